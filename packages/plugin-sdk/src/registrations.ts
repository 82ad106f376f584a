// What a plugin registers with. All of it works inside `register` and nowhere else: a call that comes later is refused, and
// the refusal is on record.
import type { Contribution, HookName } from '@tenon/protocol';
import type {
  EventSubscription,
  GatewayMethod,
  HookHandler,
  HookOptions,
  Lifecycle,
  PluginCommand,
  PluginTool,
  SchedulerJob,
  SchedulerJobHandle,
  Service,
  SessionAction,
  SessionExtension,
  StartupCheck,
  ToolFactory,
  ToolPolicy,
  ToolResultMiddleware,
} from './contributions.ts';
import type { Channel } from './deliveries.ts';
import type { ScheduledTurnHandler } from './due-turn.ts';
import type { HttpRoute } from './http-route.ts';
import type { InteractiveHandler } from './interactive-handler.ts';
import type { ModelProvider } from './model-provider.ts';

export interface Registrations {
  on<Name extends HookName>(name: Name, handler: HookHandler<Name>, options?: HookOptions): void;
  registerTrustedToolPolicy(policy: ToolPolicy): void;
  registerTool(tool: PluginTool): void;
  /** One for each session; `description` and `risk` are for lists. */
  registerTool(factory: ToolFactory, options: Contribution<'toolFactory'>): void;
  registerToolResultMiddleware(middleware: ToolResultMiddleware): void;
  registerToolMetadata(metadata: Contribution<'toolMetadata'>): void;
  registerCommand(command: PluginCommand): void;
  registerService(service: Service): void;
  registerGatewayMethod(method: GatewayMethod): void;
  registerGatewayEvent(event: Contribution<'gatewayEvent'>): void;
  registerInteractiveHandler(handler: InteractiveHandler): void;
  registerChannel(channel: Channel): void;
  registerScheduledTurnHandler(handler: ScheduledTurnHandler): void;
  registerHttpRoute(route: HttpRoute): void;
  registerModelProvider(provider: ModelProvider): void;
  registerStartupCheck(check: StartupCheck): void;
  readonly session: {
    readonly state: { registerSessionExtension(extension: SessionExtension): void };
    readonly workflow: {
      /** Undefined when it was not taken; the reason is on record. */
      registerSessionSchedulerJob(job: SchedulerJob): SchedulerJobHandle | undefined;
    };
    readonly controls: {
      registerSessionAction(action: SessionAction): void;
      registerControlUiDescriptor(descriptor: Contribution<'uiDescriptor'>): void;
    };
  };
  readonly agent: { readonly events: { registerAgentEventSubscription(subscription: EventSubscription): void } };
  readonly lifecycle: { registerRuntimeLifecycle(lifecycle: Lifecycle): void };
}
