// Generated from packages/protocol; do not edit. Run: npm run protocol:gen:swift

import Foundation

public let GATEWAY_PROTOCOL_VERSION = 3

/// Any JSON value.
public enum JsonValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JsonValue])
    case object([String: JsonValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JsonValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JsonValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    public init<Value: Encodable>(encoding value: Value) throws {
        self = try JSONDecoder().decode(JsonValue.self, from: JSONEncoder().encode(value))
    }

    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(self))
    }
}

/// A value that may be null on the wire. Beside `Optional`, because a field that is absent and one that is null differ.
public enum Nullable<Wrapped: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    case null
    case value(Wrapped)

    public var optional: Wrapped? {
        switch self {
        case .null: return nil
        case .value(let wrapped): return wrapped
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Wrapped.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .value(let wrapped): try container.encode(wrapped)
        }
    }
}

// Without these two, the synthesized decoders would read a null as an absent field.
extension KeyedDecodingContainer {
    public func decodeIfPresent<Wrapped>(_ type: Nullable<Wrapped>.Type, forKey key: Key) throws -> Nullable<Wrapped>? {
        contains(key) ? try decode(type, forKey: key) : nil
    }

    public func decodeIfPresent(_ type: JsonValue.Type, forKey key: Key) throws -> JsonValue? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}

public protocol GatewayMethod {
    associatedtype Params: Codable & Hashable & Sendable
    associatedtype Result: Codable & Hashable & Sendable
    static var name: String { get }
}

extension RequestFrame {
    public init<Method: GatewayMethod>(id: String, _ method: Method.Type, params: Method.Params) throws {
        self.init(id: id, method: Method.name, params: try JsonValue(encoding: params))
    }
}

extension ResponseFrame {
    public func result<Method: GatewayMethod>(of method: Method.Type) throws -> Method.Result {
        try (payload ?? .null).decode(Method.Result.self)
    }
}

public typealias ActionAnswer = JsonValue

public struct ActionRequired: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let sessionKey: SessionKey
    public let pluginId: OwnerId
    public let pluginName: String
    public let title: String
    public let actions: [ActionRequiredActionsItem]?
    public let createdAt: Int

    public init(
        id: AttachmentHandle,
        sessionKey: SessionKey,
        pluginId: OwnerId,
        pluginName: String,
        title: String,
        actions: [ActionRequiredActionsItem]? = nil,
        createdAt: Int
    ) {
        self.id = id
        self.sessionKey = sessionKey
        self.pluginId = pluginId
        self.pluginName = pluginName
        self.title = title
        self.actions = actions
        self.createdAt = createdAt
    }
}

public struct ActionRequiredActionsItem: Codable, Hashable, Sendable {
    public let label: String
    public let actionId: ItemName

    public init(
        label: String,
        actionId: ItemName
    ) {
        self.label = label
        self.actionId = actionId
    }
}

public struct ActiveWhen: Codable, Hashable, Sendable {
    public let namespace: ItemName
    public let path: String?
    public let equals: JsonValue?

    public init(
        namespace: ItemName,
        path: String? = nil,
        equals: JsonValue? = nil
    ) {
        self.namespace = namespace
        self.path = path
        self.equals = equals
    }
}

public struct AgentConfig: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let name: String?
    public let workspace: String?
    public let model: ModelId?
    public let fallbacks: [ModelId]?
    public let thinking: ThinkingLevel?
    public let tools: [String]?
    public let prompt: String?
    public let permissions: PermissionMode?
    public let queue: QueueMode?

    public init(
        id: OwnerId,
        name: String? = nil,
        workspace: String? = nil,
        model: ModelId? = nil,
        fallbacks: [ModelId]? = nil,
        thinking: ThinkingLevel? = nil,
        tools: [String]? = nil,
        prompt: String? = nil,
        permissions: PermissionMode? = nil,
        queue: QueueMode? = nil
    ) {
        self.id = id
        self.name = name
        self.workspace = workspace
        self.model = model
        self.fallbacks = fallbacks
        self.thinking = thinking
        self.tools = tools
        self.prompt = prompt
        self.permissions = permissions
        self.queue = queue
    }
}

public struct AgentInfo: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let name: String
    public let workspace: String
    public let model: ModelId
    public let fallbacks: [ModelId]
    public let thinking: ThinkingLevel
    public let permissions: PermissionMode
    public let queue: QueueMode
    public let isDefault: Bool

    public init(
        id: OwnerId,
        name: String,
        workspace: String,
        model: ModelId,
        fallbacks: [ModelId],
        thinking: ThinkingLevel,
        permissions: PermissionMode,
        queue: QueueMode,
        isDefault: Bool
    ) {
        self.id = id
        self.name = name
        self.workspace = workspace
        self.model = model
        self.fallbacks = fallbacks
        self.thinking = thinking
        self.permissions = permissions
        self.queue = queue
        self.isDefault = isDefault
    }
}

public struct Approval: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let sessionKey: SessionKey
    public let runId: String?
    public let callId: String?
    public let agentId: OwnerId
    public let toolName: String?
    public let pluginId: OwnerId?
    public let title: String
    public let reason: String
    public let risk: Risk?
    public let argv: [String]?
    public let cwd: String?
    public let env: [String: String]?
    public let bound: [String]?
    public let notBound: [String]?
    public let args: JsonObject
    public let digest: String
    public let principal: String
    public let allowed: [Decision]
    public let state: ApprovalState
    public let decision: Decision?
    public let decidedBy: String?
    public let decidedAt: Int?
    public let createdAt: Int
    public let expiresAt: Int

    public init(
        id: AttachmentHandle,
        sessionKey: SessionKey,
        runId: String? = nil,
        callId: String? = nil,
        agentId: OwnerId,
        toolName: String? = nil,
        pluginId: OwnerId? = nil,
        title: String,
        reason: String,
        risk: Risk? = nil,
        argv: [String]? = nil,
        cwd: String? = nil,
        env: [String: String]? = nil,
        bound: [String]? = nil,
        notBound: [String]? = nil,
        args: JsonObject,
        digest: String,
        principal: String,
        allowed: [Decision],
        state: ApprovalState,
        decision: Decision? = nil,
        decidedBy: String? = nil,
        decidedAt: Int? = nil,
        createdAt: Int,
        expiresAt: Int
    ) {
        self.id = id
        self.sessionKey = sessionKey
        self.runId = runId
        self.callId = callId
        self.agentId = agentId
        self.toolName = toolName
        self.pluginId = pluginId
        self.title = title
        self.reason = reason
        self.risk = risk
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.bound = bound
        self.notBound = notBound
        self.args = args
        self.digest = digest
        self.principal = principal
        self.allowed = allowed
        self.state = state
        self.decision = decision
        self.decidedBy = decidedBy
        self.decidedAt = decidedAt
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

public enum ApprovalState: RawRepresentable, Codable, Hashable, Sendable {
    case pending
    case allowed
    case denied
    case expired
    case voided
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ApprovalState] = [.pending, .allowed, .denied, .expired, .voided]

    public init(rawValue: String) {
        switch rawValue {
        case "pending": self = .pending
        case "allowed": self = .allowed
        case "denied": self = .denied
        case "expired": self = .expired
        case "voided": self = .voided
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .pending: return "pending"
        case .allowed: return "allowed"
        case .denied: return "denied"
        case .expired: return "expired"
        case .voided: return "voided"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct ApprovalRequest: Codable, Hashable, Sendable {
    public let title: String
    public let description: String
    public let detail: String?
    public let severity: ApprovalRequestSeverity?
    public let allowedDecisions: [Decision]?
    public let timeoutMs: Int?

    public init(
        title: String,
        description: String,
        detail: String? = nil,
        severity: ApprovalRequestSeverity? = nil,
        allowedDecisions: [Decision]? = nil,
        timeoutMs: Int? = nil
    ) {
        self.title = title
        self.description = description
        self.detail = detail
        self.severity = severity
        self.allowedDecisions = allowedDecisions
        self.timeoutMs = timeoutMs
    }
}

public enum ApprovalRequestSeverity: RawRepresentable, Codable, Hashable, Sendable {
    case info
    case warning
    case critical
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ApprovalRequestSeverity] = [.info, .warning, .critical]

    public init(rawValue: String) {
        switch rawValue {
        case "info": self = .info
        case "warning": self = .warning
        case "critical": self = .critical
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .info: return "info"
        case .warning: return "warning"
        case .critical: return "critical"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct ApprovalRule: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let agentId: OwnerId
    public let toolName: String
    public let digest: String
    public let title: String
    public let args: JsonObject
    public let createdAt: Int
    public let createdBy: String

    public init(
        id: AttachmentHandle,
        agentId: OwnerId,
        toolName: String,
        digest: String,
        title: String,
        args: JsonObject,
        createdAt: Int,
        createdBy: String
    ) {
        self.id = id
        self.agentId = agentId
        self.toolName = toolName
        self.digest = digest
        self.title = title
        self.args = args
        self.createdAt = createdAt
        self.createdBy = createdBy
    }
}

public struct AssistantMessage: Codable, Hashable, Sendable {
    public let role: String
    public let content: [AssistantMessageContentItem]
    public let provider: String
    public let model: String
    public let usage: Usage
    public let stopReason: AssistantMessageStopReason
    public let errorMessage: String?
    public let timestamp: Int

    public init(
        role: String = "assistant",
        content: [AssistantMessageContentItem],
        provider: String,
        model: String,
        usage: Usage,
        stopReason: AssistantMessageStopReason,
        errorMessage: String? = nil,
        timestamp: Int
    ) {
        self.role = role
        self.content = content
        self.provider = provider
        self.model = model
        self.usage = usage
        self.stopReason = stopReason
        self.errorMessage = errorMessage
        self.timestamp = timestamp
    }
}

public enum AssistantMessageContentItem: Codable, Hashable, Sendable {
    case text(TextBlock)
    case thinking(AssistantMessageContentItemThinking)
    case toolCall(ToolCallBlock)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "text": self = .text(try TextBlock(from: decoder))
        case "thinking": self = .thinking(try AssistantMessageContentItemThinking(from: decoder))
        case "toolCall": self = .toolCall(try ToolCallBlock(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let frame): try frame.encode(to: encoder)
        case .thinking(let frame): try frame.encode(to: encoder)
        case .toolCall(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct AssistantMessageContentItemThinking: Codable, Hashable, Sendable {
    public let type: String
    public let thinking: String
    public let thinkingSignature: String?

    public init(
        type: String = "thinking",
        thinking: String,
        thinkingSignature: String? = nil
    ) {
        self.type = type
        self.thinking = thinking
        self.thinkingSignature = thinkingSignature
    }
}

public enum AssistantMessageStopReason: RawRepresentable, Codable, Hashable, Sendable {
    case stop
    case length
    case toolUse
    case error
    case aborted
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [AssistantMessageStopReason] = [.stop, .length, .toolUse, .error, .aborted]

    public init(rawValue: String) {
        switch rawValue {
        case "stop": self = .stop
        case "length": self = .length
        case "toolUse": self = .toolUse
        case "error": self = .error
        case "aborted": self = .aborted
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .stop: return "stop"
        case .length: return "length"
        case .toolUse: return "toolUse"
        case .error: return "error"
        case .aborted: return "aborted"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct Attachment: Codable, Hashable, Sendable {
    public let handle: AttachmentHandle
    public let name: String
    public let mime: String
    public let bytes: Int
    public let unseen: AttachmentUnseen?
    public let sha256: String
    public let sessionKey: SessionKey?
    public let owner: String
    public let createdAt: Int

    public init(
        handle: AttachmentHandle,
        name: String,
        mime: String,
        bytes: Int,
        unseen: AttachmentUnseen? = nil,
        sha256: String,
        sessionKey: SessionKey? = nil,
        owner: String,
        createdAt: Int
    ) {
        self.handle = handle
        self.name = name
        self.mime = mime
        self.bytes = bytes
        self.unseen = unseen
        self.sha256 = sha256
        self.sessionKey = sessionKey
        self.owner = owner
        self.createdAt = createdAt
    }
}

public enum AttachmentUnseen: RawRepresentable, Codable, Hashable, Sendable {
    case pixels
    case bytes
    case count
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [AttachmentUnseen] = [.pixels, .bytes, .count]

    public init(rawValue: String) {
        switch rawValue {
        case "pixels": self = .pixels
        case "bytes": self = .bytes
        case "count": self = .count
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .pixels: return "pixels"
        case .bytes: return "bytes"
        case .count: return "count"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias AttachmentHandle = String

public struct AttachmentRef: Codable, Hashable, Sendable {
    public let handle: AttachmentHandle
    public let name: String
    public let mime: String
    public let bytes: Int
    public let unseen: AttachmentRefUnseen?

    public init(
        handle: AttachmentHandle,
        name: String,
        mime: String,
        bytes: Int,
        unseen: AttachmentRefUnseen? = nil
    ) {
        self.handle = handle
        self.name = name
        self.mime = mime
        self.bytes = bytes
        self.unseen = unseen
    }
}

public enum AttachmentRefUnseen: RawRepresentable, Codable, Hashable, Sendable {
    case pixels
    case bytes
    case count
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [AttachmentRefUnseen] = [.pixels, .bytes, .count]

    public init(rawValue: String) {
        switch rawValue {
        case "pixels": self = .pixels
        case "bytes": self = .bytes
        case "count": self = .count
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .pixels: return "pixels"
        case .bytes: return "bytes"
        case .count: return "count"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct AuditRecord: Codable, Hashable, Sendable {
    public let seq: Int
    public let at: Int
    public let actor: String
    public let action: String
    public let target: String
    public let details: JsonValue
    public let hash: String

    public init(
        seq: Int,
        at: Int,
        actor: String,
        action: String,
        target: String,
        details: JsonValue,
        hash: String
    ) {
        self.seq = seq
        self.at = at
        self.actor = actor
        self.action = action
        self.target = target
        self.details = details
        self.hash = hash
    }
}

public typealias ChannelId = String

public struct ClientInfo: Codable, Hashable, Sendable {
    public let id: String
    public let displayName: String?
    public let version: String
    public let platform: String
    public let mode: String
    public let instanceId: String?
    public let deviceFamily: String?
    public let buildId: String?
    public let timeZone: String?

    public init(
        id: String,
        displayName: String? = nil,
        version: String,
        platform: String,
        mode: String,
        instanceId: String? = nil,
        deviceFamily: String? = nil,
        buildId: String? = nil,
        timeZone: String? = nil
    ) {
        self.id = id
        self.displayName = displayName
        self.version = version
        self.platform = platform
        self.mode = mode
        self.instanceId = instanceId
        self.deviceFamily = deviceFamily
        self.buildId = buildId
        self.timeZone = timeZone
    }
}

public struct CommandInfo: Codable, Hashable, Sendable {
    public let name: String
    public let summary: String
    public let usage: String
    public let scope: String
    public let source: CommandInfoSource
    public let pluginId: OwnerId?
    public let aliases: [String]?

    public init(
        name: String,
        summary: String,
        usage: String,
        scope: String,
        source: CommandInfoSource,
        pluginId: OwnerId? = nil,
        aliases: [String]? = nil
    ) {
        self.name = name
        self.summary = summary
        self.usage = usage
        self.scope = scope
        self.source = source
        self.pluginId = pluginId
        self.aliases = aliases
    }
}

public enum CommandInfoSource: RawRepresentable, Codable, Hashable, Sendable {
    case core
    case plugin
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [CommandInfoSource] = [.core, .plugin]

    public init(rawValue: String) {
        switch rawValue {
        case "core": self = .core
        case "plugin": self = .plugin
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .core: return "core"
        case .plugin: return "plugin"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct ConnectParams: Codable, Hashable, Sendable {
    public let minProtocol: Int
    public let maxProtocol: Int
    public let client: ClientInfo
    public let caps: [String]?
    public let role: String?
    public let scopes: [String]?
    public let auth: ConnectParamsAuth?
    public let device: DeviceProof?
    public let resume: ConnectParamsResume?
    public let events: [String]?
    public let locale: String?
    public let userAgent: String?

    public init(
        minProtocol: Int,
        maxProtocol: Int,
        client: ClientInfo,
        caps: [String]? = nil,
        role: String? = nil,
        scopes: [String]? = nil,
        auth: ConnectParamsAuth? = nil,
        device: DeviceProof? = nil,
        resume: ConnectParamsResume? = nil,
        events: [String]? = nil,
        locale: String? = nil,
        userAgent: String? = nil
    ) {
        self.minProtocol = minProtocol
        self.maxProtocol = maxProtocol
        self.client = client
        self.caps = caps
        self.role = role
        self.scopes = scopes
        self.auth = auth
        self.device = device
        self.resume = resume
        self.events = events
        self.locale = locale
        self.userAgent = userAgent
    }
}

public struct ConnectParamsAuth: Codable, Hashable, Sendable {
    public let token: String?

    public init(
        token: String? = nil
    ) {
        self.token = token
    }
}

public struct ConnectParamsResume: Codable, Hashable, Sendable {
    public let epoch: String?
    public let seq: Int

    public init(
        epoch: String? = nil,
        seq: Int
    ) {
        self.epoch = epoch
        self.seq = seq
    }
}

public typealias CronText = String

public enum Decision: RawRepresentable, Codable, Hashable, Sendable {
    case allowOnce
    case allowAlways
    case deny
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [Decision] = [.allowOnce, .allowAlways, .deny]

    public init(rawValue: String) {
        switch rawValue {
        case "allow-once": self = .allowOnce
        case "allow-always": self = .allowAlways
        case "deny": self = .deny
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .allowOnce: return "allow-once"
        case .allowAlways: return "allow-always"
        case .deny: return "deny"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct Delivery: Codable, Hashable, Sendable {
    public let channel: String
    public let by: OwnerId
    public let byName: String
    public let text: String?
    public let attachments: [AttachmentRef]
    public let presentation: Presentation?

    public init(
        channel: String,
        by: OwnerId,
        byName: String,
        text: String? = nil,
        attachments: [AttachmentRef],
        presentation: Presentation? = nil
    ) {
        self.channel = channel
        self.by = by
        self.byName = byName
        self.text = text
        self.attachments = attachments
        self.presentation = presentation
    }
}

public struct DeliveryBlock: Codable, Hashable, Sendable {
    public let kind: DeliveryBlockKind
    public let label: String?
    public let text: String?
    public let value: JsonValue?

    public init(
        kind: DeliveryBlockKind,
        label: String? = nil,
        text: String? = nil,
        value: JsonValue? = nil
    ) {
        self.kind = kind
        self.label = label
        self.text = text
        self.value = value
    }
}

public enum DeliveryBlockKind: RawRepresentable, Codable, Hashable, Sendable {
    case markdown
    case keyValue
    case list
    case table
    case progress
    case status
    case diff
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [DeliveryBlockKind] = [.markdown, .keyValue, .list, .table, .progress, .status, .diff]

    public init(rawValue: String) {
        switch rawValue {
        case "markdown": self = .markdown
        case "key-value": self = .keyValue
        case "list": self = .list
        case "table": self = .table
        case "progress": self = .progress
        case "status": self = .status
        case "diff": self = .diff
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .markdown: return "markdown"
        case .keyValue: return "key-value"
        case .list: return "list"
        case .table: return "table"
        case .progress: return "progress"
        case .status: return "status"
        case .diff: return "diff"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct DeliveryButton: Codable, Hashable, Sendable {
    public let id: ItemName
    public let label: String
    public let style: DeliveryButtonStyle?
    public let action: JsonValue

    public init(
        id: ItemName,
        label: String,
        style: DeliveryButtonStyle? = nil,
        action: JsonValue
    ) {
        self.id = id
        self.label = label
        self.style = style
        self.action = action
    }
}

public enum DeliveryButtonStyle: RawRepresentable, Codable, Hashable, Sendable {
    case primary
    case normal
    case danger
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [DeliveryButtonStyle] = [.primary, .normal, .danger]

    public init(rawValue: String) {
        switch rawValue {
        case "primary": self = .primary
        case "normal": self = .normal
        case "danger": self = .danger
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .primary: return "primary"
        case .normal: return "normal"
        case .danger: return "danger"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct DeliveryEdited: Codable, Hashable, Sendable {
    public let entryId: String
    public let by: OwnerId
    public let byName: String
    public let revision: Int
    public let text: String?
    public let presentation: Presentation?

    public init(
        entryId: String,
        by: OwnerId,
        byName: String,
        revision: Int,
        text: String? = nil,
        presentation: Presentation? = nil
    ) {
        self.entryId = entryId
        self.by = by
        self.byName = byName
        self.revision = revision
        self.text = text
        self.presentation = presentation
    }
}

public struct DeliveryEdits: Codable, Hashable, Sendable {
    public let state: DeliveryEditsState
    public let revision: Int
    public let attempts: Int
    public let nextAt: Int?
    public let reason: String?

    public init(
        state: DeliveryEditsState,
        revision: Int,
        attempts: Int,
        nextAt: Int? = nil,
        reason: String? = nil
    ) {
        self.state = state
        self.revision = revision
        self.attempts = attempts
        self.nextAt = nextAt
        self.reason = reason
    }
}

public enum DeliveryEditsState: RawRepresentable, Codable, Hashable, Sendable {
    case waiting
    case done
    case none
    case failed
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [DeliveryEditsState] = [.waiting, .done, .none, .failed]

    public init(rawValue: String) {
        switch rawValue {
        case "waiting": self = .waiting
        case "done": self = .done
        case "none": self = .none
        case "failed": self = .failed
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .waiting: return "waiting"
        case .done: return "done"
        case .none: return "none"
        case .failed: return "failed"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct DeliveryPressed: Codable, Hashable, Sendable {
    public let entryId: String
    public let buttonId: ItemName
    public let label: String
    public let pluginId: OwnerId
    public let text: String?

    public init(
        entryId: String,
        buttonId: ItemName,
        label: String,
        pluginId: OwnerId,
        text: String? = nil
    ) {
        self.entryId = entryId
        self.buttonId = buttonId
        self.label = label
        self.pluginId = pluginId
        self.text = text
    }
}

public struct DeliveryRecord: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let sessionKey: SessionKey
    public let entryId: String
    public let channel: String
    public let to: String
    public let by: OwnerId
    public let state: DeliveryRecordState
    public let attempts: Int
    public let nextAt: Int?
    public let reason: String?
    public let receipt: String?
    public let pressed: DeliveryRecordPressed?
    public let edits: DeliveryEdits?
    public let createdAt: Int

    public init(
        id: AttachmentHandle,
        sessionKey: SessionKey,
        entryId: String,
        channel: String,
        to: String,
        by: OwnerId,
        state: DeliveryRecordState,
        attempts: Int,
        nextAt: Int? = nil,
        reason: String? = nil,
        receipt: String? = nil,
        pressed: DeliveryRecordPressed? = nil,
        edits: DeliveryEdits? = nil,
        createdAt: Int
    ) {
        self.id = id
        self.sessionKey = sessionKey
        self.entryId = entryId
        self.channel = channel
        self.to = to
        self.by = by
        self.state = state
        self.attempts = attempts
        self.nextAt = nextAt
        self.reason = reason
        self.receipt = receipt
        self.pressed = pressed
        self.edits = edits
        self.createdAt = createdAt
    }
}

public enum DeliveryRecordState: RawRepresentable, Codable, Hashable, Sendable {
    case waiting
    case sent
    case failed
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [DeliveryRecordState] = [.waiting, .sent, .failed]

    public init(rawValue: String) {
        switch rawValue {
        case "waiting": self = .waiting
        case "sent": self = .sent
        case "failed": self = .failed
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .waiting: return "waiting"
        case .sent: return "sent"
        case .failed: return "failed"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct DeliveryRecordPressed: Codable, Hashable, Sendable {
    public let buttonId: ItemName
    public let by: String
    public let at: Int

    public init(
        buttonId: ItemName,
        by: String,
        at: Int
    ) {
        self.buttonId = buttonId
        self.by = by
        self.at = at
    }
}

public struct Device: Codable, Hashable, Sendable {
    public let id: String
    public let name: String
    public let platform: String
    public let scopes: ScopeList
    public let approvedAt: Int
    public let approvedBy: String
    public let lastSeenAt: Nullable<Int>
    public let revokedAt: Nullable<Int>

    public init(
        id: String,
        name: String,
        platform: String,
        scopes: ScopeList,
        approvedAt: Int,
        approvedBy: String,
        lastSeenAt: Nullable<Int>,
        revokedAt: Nullable<Int>
    ) {
        self.id = id
        self.name = name
        self.platform = platform
        self.scopes = scopes
        self.approvedAt = approvedAt
        self.approvedBy = approvedBy
        self.lastSeenAt = lastSeenAt
        self.revokedAt = revokedAt
    }
}

public struct DeviceProof: Codable, Hashable, Sendable {
    public let id: String
    public let publicKey: String
    public let signature: String
    public let signedAt: Int
    public let nonce: String

    public init(
        id: String,
        publicKey: String,
        signature: String,
        signedAt: Int,
        nonce: String
    ) {
        self.id = id
        self.publicKey = publicKey
        self.signature = signature
        self.signedAt = signedAt
        self.nonce = nonce
    }
}

public struct EffectiveTool: Codable, Hashable, Sendable {
    public let id: String
    public let label: String
    public let description: String
    public let source: EffectiveToolSource
    public let pluginId: OwnerId?
    public let risk: Risk
    public let riskLevel: EffectiveToolRiskLevel?
    public let tags: [String]
    public let idempotent: Bool
    public let parallelSafe: Bool
    public let optional: Bool?
    public let perSession: Bool?
    public let parameters: JsonObject
    public let verdict: EffectiveToolVerdict
    public let reason: String

    public init(
        id: String,
        label: String,
        description: String,
        source: EffectiveToolSource,
        pluginId: OwnerId? = nil,
        risk: Risk,
        riskLevel: EffectiveToolRiskLevel? = nil,
        tags: [String],
        idempotent: Bool,
        parallelSafe: Bool,
        optional: Bool? = nil,
        perSession: Bool? = nil,
        parameters: JsonObject,
        verdict: EffectiveToolVerdict,
        reason: String
    ) {
        self.id = id
        self.label = label
        self.description = description
        self.source = source
        self.pluginId = pluginId
        self.risk = risk
        self.riskLevel = riskLevel
        self.tags = tags
        self.idempotent = idempotent
        self.parallelSafe = parallelSafe
        self.optional = optional
        self.perSession = perSession
        self.parameters = parameters
        self.verdict = verdict
        self.reason = reason
    }
}

public enum EffectiveToolSource: RawRepresentable, Codable, Hashable, Sendable {
    case core
    case plugin
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [EffectiveToolSource] = [.core, .plugin]

    public init(rawValue: String) {
        switch rawValue {
        case "core": self = .core
        case "plugin": self = .plugin
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .core: return "core"
        case .plugin: return "plugin"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum EffectiveToolRiskLevel: RawRepresentable, Codable, Hashable, Sendable {
    case low
    case medium
    case high
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [EffectiveToolRiskLevel] = [.low, .medium, .high]

    public init(rawValue: String) {
        switch rawValue {
        case "low": self = .low
        case "medium": self = .medium
        case "high": self = .high
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .low: return "low"
        case .medium: return "medium"
        case .high: return "high"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum EffectiveToolVerdict: RawRepresentable, Codable, Hashable, Sendable {
    case allow
    case ask
    case deny
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [EffectiveToolVerdict] = [.allow, .ask, .deny]

    public init(rawValue: String) {
        switch rawValue {
        case "allow": self = .allow
        case "ask": self = .ask
        case "deny": self = .deny
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .allow: return "allow"
        case .ask: return "ask"
        case .deny: return "deny"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum Entry: Codable, Hashable, Sendable {
    case message(EntryMessage)
    case compaction(EntryCompaction)
    case branchSummary(EntryBranchSummary)
    case modelChange(EntryModelChange)
    case thinkingLevelChange(EntryThinkingLevelChange)
    case custom(EntryCustom)
    case customMessage(EntryCustomMessage)
    case label(EntryLabel)
    case sessionInfo(EntrySessionInfo)
    case contextEdit(EntryContextEdit)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "message": self = .message(try EntryMessage(from: decoder))
        case "compaction": self = .compaction(try EntryCompaction(from: decoder))
        case "branch_summary": self = .branchSummary(try EntryBranchSummary(from: decoder))
        case "model_change": self = .modelChange(try EntryModelChange(from: decoder))
        case "thinking_level_change": self = .thinkingLevelChange(try EntryThinkingLevelChange(from: decoder))
        case "custom": self = .custom(try EntryCustom(from: decoder))
        case "custom_message": self = .customMessage(try EntryCustomMessage(from: decoder))
        case "label": self = .label(try EntryLabel(from: decoder))
        case "session_info": self = .sessionInfo(try EntrySessionInfo(from: decoder))
        case "context_edit": self = .contextEdit(try EntryContextEdit(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .message(let frame): try frame.encode(to: encoder)
        case .compaction(let frame): try frame.encode(to: encoder)
        case .branchSummary(let frame): try frame.encode(to: encoder)
        case .modelChange(let frame): try frame.encode(to: encoder)
        case .thinkingLevelChange(let frame): try frame.encode(to: encoder)
        case .custom(let frame): try frame.encode(to: encoder)
        case .customMessage(let frame): try frame.encode(to: encoder)
        case .label(let frame): try frame.encode(to: encoder)
        case .sessionInfo(let frame): try frame.encode(to: encoder)
        case .contextEdit(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct EntryMessage: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let message: Message

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "message",
        message: Message
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.message = message
    }
}

public struct EntryCompaction: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let summary: String
    public let firstKeptEntryId: String
    public let tokensBefore: Int
    public let details: JsonObject?

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "compaction",
        summary: String,
        firstKeptEntryId: String,
        tokensBefore: Int,
        details: JsonObject? = nil
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.summary = summary
        self.firstKeptEntryId = firstKeptEntryId
        self.tokensBefore = tokensBefore
        self.details = details
    }
}

public struct EntryBranchSummary: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let fromId: String
    public let summary: String

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "branch_summary",
        fromId: String,
        summary: String
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.fromId = fromId
        self.summary = summary
    }
}

public struct EntryModelChange: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let provider: String
    public let modelId: String

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "model_change",
        provider: String,
        modelId: String
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.provider = provider
        self.modelId = modelId
    }
}

public struct EntryThinkingLevelChange: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let thinkingLevel: ThinkingLevel

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "thinking_level_change",
        thinkingLevel: ThinkingLevel
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.thinkingLevel = thinkingLevel
    }
}

public struct EntryCustom: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let customType: String
    public let data: JsonValue?

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "custom",
        customType: String,
        data: JsonValue? = nil
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.customType = customType
        self.data = data
    }
}

public struct EntryCustomMessage: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let customType: String
    public let content: [EntryCustomMessageContentItem]
    public let display: Bool
    public let details: JsonObject?

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "custom_message",
        customType: String,
        content: [EntryCustomMessageContentItem],
        display: Bool,
        details: JsonObject? = nil
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.customType = customType
        self.content = content
        self.display = display
        self.details = details
    }
}

public enum EntryCustomMessageContentItem: Codable, Hashable, Sendable {
    case text(TextBlock)
    case image(ImageBlock)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "text": self = .text(try TextBlock(from: decoder))
        case "image": self = .image(try ImageBlock(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let frame): try frame.encode(to: encoder)
        case .image(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct EntryLabel: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let targetId: String
    public let label: Nullable<String>

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "label",
        targetId: String,
        label: Nullable<String>
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.targetId = targetId
        self.label = label
    }
}

public struct EntrySessionInfo: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let name: String

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "session_info",
        name: String
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.name = name
    }
}

public struct EntryContextEdit: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let at: Int
    public let runId: String?
    public let type: String
    public let targetId: String
    public let replacement: Nullable<[EntryContextEditReplacementItem]>

    public init(
        id: String,
        parentId: Nullable<String>,
        at: Int,
        runId: String? = nil,
        type: String = "context_edit",
        targetId: String,
        replacement: Nullable<[EntryContextEditReplacementItem]>
    ) {
        self.id = id
        self.parentId = parentId
        self.at = at
        self.runId = runId
        self.type = type
        self.targetId = targetId
        self.replacement = replacement
    }
}

public enum EntryContextEditReplacementItem: Codable, Hashable, Sendable {
    case text(TextBlock)
    case image(ImageBlock)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "text": self = .text(try TextBlock(from: decoder))
        case "image": self = .image(try ImageBlock(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let frame): try frame.encode(to: encoder)
        case .image(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct ErrorShape: Codable, Hashable, Sendable {
    public let code: ErrorCode
    public let message: String
    public let details: JsonValue?
    public let retryable: Bool?
    public let retryAfterMs: Int?

    public init(
        code: ErrorCode,
        message: String,
        details: JsonValue? = nil,
        retryable: Bool? = nil,
        retryAfterMs: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.retryable = retryable
        self.retryAfterMs = retryAfterMs
    }
}

public struct EventFrame: Codable, Hashable, Sendable {
    public let type: String
    public let event: String
    public let payload: JsonValue?
    public let seq: Int?
    public let stateVersion: StateVersion?
    public let epoch: String?
    public let prev: Int?

    public init(
        type: String = "event",
        event: String,
        payload: JsonValue? = nil,
        seq: Int? = nil,
        stateVersion: StateVersion? = nil,
        epoch: String? = nil,
        prev: Int? = nil
    ) {
        self.type = type
        self.event = event
        self.payload = payload
        self.seq = seq
        self.stateVersion = stateVersion
        self.epoch = epoch
        self.prev = prev
    }
}

public struct ExtensionLogLine: Codable, Hashable, Sendable {
    public let seq: Int
    public let at: Int
    public let from: ExtensionLogLineFrom
    public let level: ExtensionLogLineLevel
    public let text: String

    public init(
        seq: Int,
        at: Int,
        from: ExtensionLogLineFrom,
        level: ExtensionLogLineLevel,
        text: String
    ) {
        self.seq = seq
        self.at = at
        self.from = from
        self.level = level
        self.text = text
    }
}

public enum ExtensionLogLineFrom: RawRepresentable, Codable, Hashable, Sendable {
    case stderr
    case log
    case gateway
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ExtensionLogLineFrom] = [.stderr, .log, .gateway]

    public init(rawValue: String) {
        switch rawValue {
        case "stderr": self = .stderr
        case "log": self = .log
        case "gateway": self = .gateway
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .stderr: return "stderr"
        case .log: return "log"
        case .gateway: return "gateway"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum ExtensionLogLineLevel: RawRepresentable, Codable, Hashable, Sendable {
    case trace
    case debug
    case info
    case warn
    case error
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ExtensionLogLineLevel] = [.trace, .debug, .info, .warn, .error]

    public init(rawValue: String) {
        switch rawValue {
        case "trace": self = .trace
        case "debug": self = .debug
        case "info": self = .info
        case "warn": self = .warn
        case "error": self = .error
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .trace: return "trace"
        case .debug: return "debug"
        case .info: return "info"
        case .warn: return "warn"
        case .error: return "error"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct Finding: Codable, Hashable, Sendable {
    public let check: String
    public let severity: FindingSeverity
    public let message: String
    public let remedy: String?
    public let fixable: Bool?
    public let fixed: Bool?

    public init(
        check: String,
        severity: FindingSeverity,
        message: String,
        remedy: String? = nil,
        fixable: Bool? = nil,
        fixed: Bool? = nil
    ) {
        self.check = check
        self.severity = severity
        self.message = message
        self.remedy = remedy
        self.fixable = fixable
        self.fixed = fixed
    }
}

public enum FindingSeverity: RawRepresentable, Codable, Hashable, Sendable {
    case ok
    case info
    case warning
    case error
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [FindingSeverity] = [.ok, .info, .warning, .error]

    public init(rawValue: String) {
        switch rawValue {
        case "ok": self = .ok
        case "info": self = .info
        case "warning": self = .warning
        case "error": self = .error
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .ok: return "ok"
        case .info: return "info"
        case .warning: return "warning"
        case .error: return "error"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum GatewayFrame: Codable, Hashable, Sendable {
    case req(RequestFrame)
    case res(ResponseFrame)
    case event(EventFrame)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "req": self = .req(try RequestFrame(from: decoder))
        case "res": self = .res(try ResponseFrame(from: decoder))
        case "event": self = .event(try EventFrame(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .req(let frame): try frame.encode(to: encoder)
        case .res(let frame): try frame.encode(to: encoder)
        case .event(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public typealias Grant = String

public struct Health: Codable, Hashable, Sendable {
    public let ok: Bool?
    public let ts: Int?
    public let uptimeMs: Int?
    public let problems: [HealthProblemsItem]?

    public init(
        ok: Bool? = nil,
        ts: Int? = nil,
        uptimeMs: Int? = nil,
        problems: [HealthProblemsItem]? = nil
    ) {
        self.ok = ok
        self.ts = ts
        self.uptimeMs = uptimeMs
        self.problems = problems
    }
}

public struct HealthProblemsItem: Codable, Hashable, Sendable {
    public let part: String
    public let reason: String
    public let since: Int

    public init(
        part: String,
        reason: String,
        since: Int
    ) {
        self.part = part
        self.reason = reason
        self.since = since
    }
}

public struct HelloOk: Codable, Hashable, Sendable {
    public let type: String
    public let protocol_: Int
    public let server: HelloOkServer
    public let features: HelloOkFeatures
    public let snapshot: HelloOkSnapshot
    public let policy: HelloOkPolicy
    public let auth: HelloOkAuth?
    public let events: HelloOkEvents?

    public init(
        type: String = "hello-ok",
        protocol_: Int,
        server: HelloOkServer,
        features: HelloOkFeatures,
        snapshot: HelloOkSnapshot,
        policy: HelloOkPolicy,
        auth: HelloOkAuth? = nil,
        events: HelloOkEvents? = nil
    ) {
        self.type = type
        self.protocol_ = protocol_
        self.server = server
        self.features = features
        self.snapshot = snapshot
        self.policy = policy
        self.auth = auth
        self.events = events
    }

    enum CodingKeys: String, CodingKey {
        case type = "type"
        case protocol_ = "protocol"
        case server = "server"
        case features = "features"
        case snapshot = "snapshot"
        case policy = "policy"
        case auth = "auth"
        case events = "events"
    }
}

public struct HelloOkServer: Codable, Hashable, Sendable {
    public let version: String
    public let connId: String
    public let bootId: String?

    public init(
        version: String,
        connId: String,
        bootId: String? = nil
    ) {
        self.version = version
        self.connId = connId
        self.bootId = bootId
    }
}

public struct HelloOkFeatures: Codable, Hashable, Sendable {
    public let methods: [String]
    public let events: [String]
    public let capabilities: [String]?

    public init(
        methods: [String],
        events: [String],
        capabilities: [String]? = nil
    ) {
        self.methods = methods
        self.events = events
        self.capabilities = capabilities
    }
}

public struct HelloOkSnapshot: Codable, Hashable, Sendable {
    public let presence: [PresenceEntry]
    public let health: Health
    public let stateVersion: StateVersion
    public let uptimeMs: Int

    public init(
        presence: [PresenceEntry],
        health: Health,
        stateVersion: StateVersion,
        uptimeMs: Int
    ) {
        self.presence = presence
        self.health = health
        self.stateVersion = stateVersion
        self.uptimeMs = uptimeMs
    }
}

public struct HelloOkPolicy: Codable, Hashable, Sendable {
    public let maxPayload: Int
    public let maxBufferedBytes: Int
    public let tickIntervalMs: Int
    public let maxInFlight: Int?
    public let maxInFlightBytes: Int?

    public init(
        maxPayload: Int,
        maxBufferedBytes: Int,
        tickIntervalMs: Int,
        maxInFlight: Int? = nil,
        maxInFlightBytes: Int? = nil
    ) {
        self.maxPayload = maxPayload
        self.maxBufferedBytes = maxBufferedBytes
        self.tickIntervalMs = tickIntervalMs
        self.maxInFlight = maxInFlight
        self.maxInFlightBytes = maxInFlightBytes
    }
}

public struct HelloOkAuth: Codable, Hashable, Sendable {
    public let method: HelloOkAuthMethod
    public let principal: String
    public let scopes: ScopeList
    public let sessionKey: SessionKey?

    public init(
        method: HelloOkAuthMethod,
        principal: String,
        scopes: ScopeList,
        sessionKey: SessionKey? = nil
    ) {
        self.method = method
        self.principal = principal
        self.scopes = scopes
        self.sessionKey = sessionKey
    }
}

public enum HelloOkAuthMethod: RawRepresentable, Codable, Hashable, Sendable {
    case token
    case device
    case none
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [HelloOkAuthMethod] = [.token, .device, .none]

    public init(rawValue: String) {
        switch rawValue {
        case "token": self = .token
        case "device": self = .device
        case "none": self = .none
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .token: return "token"
        case .device: return "device"
        case .none: return "none"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct HelloOkEvents: Codable, Hashable, Sendable {
    public let epoch: String
    public let seq: Int

    public init(
        epoch: String,
        seq: Int
    ) {
        self.epoch = epoch
        self.seq = seq
    }
}

public struct ImageBlock: Codable, Hashable, Sendable {
    public let type: String
    public let mimeType: ImageBlockMimeType
    public let data: String

    public init(
        type: String = "image",
        mimeType: ImageBlockMimeType,
        data: String
    ) {
        self.type = type
        self.mimeType = mimeType
        self.data = data
    }
}

public enum ImageBlockMimeType: RawRepresentable, Codable, Hashable, Sendable {
    case imagePng
    case imageJpeg
    case imageGif
    case imageWebp
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ImageBlockMimeType] = [.imagePng, .imageJpeg, .imageGif, .imageWebp]

    public init(rawValue: String) {
        switch rawValue {
        case "image/png": self = .imagePng
        case "image/jpeg": self = .imageJpeg
        case "image/gif": self = .imageGif
        case "image/webp": self = .imageWebp
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .imagePng: return "image/png"
        case .imageJpeg: return "image/jpeg"
        case .imageGif: return "image/gif"
        case .imageWebp: return "image/webp"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias IntervalMs = Int

public typealias ItemName = String

public struct Job: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let name: JobName
    public let session: JobSession
    public let schedule: Schedule
    public let message: String
    public let state: JobState
    public let note: String?
    public let onMiss: OnMiss
    public let overlap: Overlap
    public let retry: JobRetry?
    public let delivery: JobDelivery
    public let owner: String
    public let tag: JobTag?
    public let nextAt: Int?
    public let createdAt: Int
    public let updatedAt: Int
    public let last: Occurrence?

    public init(
        id: AttachmentHandle,
        name: JobName,
        session: JobSession,
        schedule: Schedule,
        message: String,
        state: JobState,
        note: String? = nil,
        onMiss: OnMiss,
        overlap: Overlap,
        retry: JobRetry? = nil,
        delivery: JobDelivery,
        owner: String,
        tag: JobTag? = nil,
        nextAt: Int? = nil,
        createdAt: Int,
        updatedAt: Int,
        last: Occurrence? = nil
    ) {
        self.id = id
        self.name = name
        self.session = session
        self.schedule = schedule
        self.message = message
        self.state = state
        self.note = note
        self.onMiss = onMiss
        self.overlap = overlap
        self.retry = retry
        self.delivery = delivery
        self.owner = owner
        self.tag = tag
        self.nextAt = nextAt
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.last = last
    }
}

public enum JobState: RawRepresentable, Codable, Hashable, Sendable {
    case active
    case paused
    case finished
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [JobState] = [.active, .paused, .finished]

    public init(rawValue: String) {
        switch rawValue {
        case "active": self = .active
        case "paused": self = .paused
        case "finished": self = .finished
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .active: return "active"
        case .paused: return "paused"
        case .finished: return "finished"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum JobDelivery: RawRepresentable, Codable, Hashable, Sendable {
    case announce
    case none
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [JobDelivery] = [.announce, .none]

    public init(rawValue: String) {
        switch rawValue {
        case "announce": self = .announce
        case "none": self = .none
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .announce: return "announce"
        case .none: return "none"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias JobMessage = String

public typealias JobName = String

public struct JobRetry: Codable, Hashable, Sendable {
    public let attempts: Int
    public let backoffMs: Int

    public init(
        attempts: Int,
        backoffMs: Int
    ) {
        self.attempts = attempts
        self.backoffMs = backoffMs
    }
}

public typealias JobSession = JsonValue

public typealias JobTag = String

public typealias JsonObject = [String: JsonValue]

public enum LogLevel: RawRepresentable, Codable, Hashable, Sendable {
    case trace
    case debug
    case info
    case warn
    case error
    case fatal
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [LogLevel] = [.trace, .debug, .info, .warn, .error, .fatal]

    public init(rawValue: String) {
        switch rawValue {
        case "trace": self = .trace
        case "debug": self = .debug
        case "info": self = .info
        case "warn": self = .warn
        case "error": self = .error
        case "fatal": self = .fatal
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .trace: return "trace"
        case .debug: return "debug"
        case .info: return "info"
        case .warn: return "warn"
        case .error: return "error"
        case .fatal: return "fatal"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct LogRecord: Codable, Hashable, Sendable {
    public let cursor: Int
    public let time: Int
    public let level: LogLevel
    public let message: String
    public let fields: JsonValue?

    public init(
        cursor: Int,
        time: Int,
        level: LogLevel,
        message: String,
        fields: JsonValue? = nil
    ) {
        self.cursor = cursor
        self.time = time
        self.level = level
        self.message = message
        self.fields = fields
    }
}

public enum Message: Codable, Hashable, Sendable {
    case user(UserMessage)
    case assistant(AssistantMessage)
    case toolResult(ToolResultMessage)
    /// A type that is newer than these models, kept whole.
    case unknown(role: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "role" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "user": self = .user(try UserMessage(from: decoder))
        case "assistant": self = .assistant(try AssistantMessage(from: decoder))
        case "toolResult": self = .toolResult(try ToolResultMessage(from: decoder))
        default: self = .unknown(role: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .user(let frame): try frame.encode(to: encoder)
        case .assistant(let frame): try frame.encode(to: encoder)
        case .toolResult(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct ModelConfig: Codable, Hashable, Sendable {
    public let id: ModelId
    public let provider: ModelConfigProvider
    public let name: String?
    public let baseUrl: String?
    public let keyEnv: String?
    public let keyFile: String?
    public let contextWindow: Int?
    public let maxOutputTokens: Int?
    public let images: Bool?
    public let thinking: Bool?
    public let prices: ModelConfigPrices?

    public init(
        id: ModelId,
        provider: ModelConfigProvider,
        name: String? = nil,
        baseUrl: String? = nil,
        keyEnv: String? = nil,
        keyFile: String? = nil,
        contextWindow: Int? = nil,
        maxOutputTokens: Int? = nil,
        images: Bool? = nil,
        thinking: Bool? = nil,
        prices: ModelConfigPrices? = nil
    ) {
        self.id = id
        self.provider = provider
        self.name = name
        self.baseUrl = baseUrl
        self.keyEnv = keyEnv
        self.keyFile = keyFile
        self.contextWindow = contextWindow
        self.maxOutputTokens = maxOutputTokens
        self.images = images
        self.thinking = thinking
        self.prices = prices
    }
}

public enum ModelConfigProvider: RawRepresentable, Codable, Hashable, Sendable {
    case openai
    case anthropic
    case google
    case openaiCompatible
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ModelConfigProvider] = [.openai, .anthropic, .google, .openaiCompatible]

    public init(rawValue: String) {
        switch rawValue {
        case "openai": self = .openai
        case "anthropic": self = .anthropic
        case "google": self = .google
        case "openai-compatible": self = .openaiCompatible
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .openai: return "openai"
        case .anthropic: return "anthropic"
        case .google: return "google"
        case .openaiCompatible: return "openai-compatible"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct ModelConfigPrices: Codable, Hashable, Sendable {
    public let input: Double
    public let output: Double
    public let cacheRead: Double?
    public let cacheWrite: Double?

    public init(
        input: Double,
        output: Double,
        cacheRead: Double? = nil,
        cacheWrite: Double? = nil
    ) {
        self.input = input
        self.output = output
        self.cacheRead = cacheRead
        self.cacheWrite = cacheWrite
    }
}

public typealias ModelId = String

public struct ModelInfo: Codable, Hashable, Sendable {
    public let id: ModelId
    public let provider: String
    public let name: String
    public let contextWindow: Int
    public let images: Bool
    public let thinking: Bool
    public let usable: Bool
    public let reason: String?
    public let isDefault: Bool

    public init(
        id: ModelId,
        provider: String,
        name: String,
        contextWindow: Int,
        images: Bool,
        thinking: Bool,
        usable: Bool,
        reason: String? = nil,
        isDefault: Bool
    ) {
        self.id = id
        self.provider = provider
        self.name = name
        self.contextWindow = contextWindow
        self.images = images
        self.thinking = thinking
        self.usable = usable
        self.reason = reason
        self.isDefault = isDefault
    }
}

public struct Occurrence: Codable, Hashable, Sendable {
    public let jobId: AttachmentHandle
    public let dueAt: Int
    public let state: OccurrenceState
    public let reason: String?
    public let sessionKey: SessionKey?
    public let runId: String?
    public let attempt: Int
    public let manual: Bool?
    public let count: Int?
    public let until: Int?
    public let retryAt: Int?
    public let startedAt: Int?
    public let endedAt: Int?

    public init(
        jobId: AttachmentHandle,
        dueAt: Int,
        state: OccurrenceState,
        reason: String? = nil,
        sessionKey: SessionKey? = nil,
        runId: String? = nil,
        attempt: Int,
        manual: Bool? = nil,
        count: Int? = nil,
        until: Int? = nil,
        retryAt: Int? = nil,
        startedAt: Int? = nil,
        endedAt: Int? = nil
    ) {
        self.jobId = jobId
        self.dueAt = dueAt
        self.state = state
        self.reason = reason
        self.sessionKey = sessionKey
        self.runId = runId
        self.attempt = attempt
        self.manual = manual
        self.count = count
        self.until = until
        self.retryAt = retryAt
        self.startedAt = startedAt
        self.endedAt = endedAt
    }
}

public enum OccurrenceState: RawRepresentable, Codable, Hashable, Sendable {
    case waiting
    case running
    case done
    case failed
    case missed
    case skipped
    case interrupted
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [OccurrenceState] = [.waiting, .running, .done, .failed, .missed, .skipped, .interrupted]

    public init(rawValue: String) {
        switch rawValue {
        case "waiting": self = .waiting
        case "running": self = .running
        case "done": self = .done
        case "failed": self = .failed
        case "missed": self = .missed
        case "skipped": self = .skipped
        case "interrupted": self = .interrupted
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .waiting: return "waiting"
        case .running: return "running"
        case .done: return "done"
        case .failed: return "failed"
        case .missed: return "missed"
        case .skipped: return "skipped"
        case .interrupted: return "interrupted"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias OnMiss = JsonValue

public enum Overlap: RawRepresentable, Codable, Hashable, Sendable {
    case skip
    case queue
    case allow
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [Overlap] = [.skip, .queue, .allow]

    public init(rawValue: String) {
        switch rawValue {
        case "skip": self = .skip
        case "queue": self = .queue
        case "allow": self = .allow
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .skip: return "skip"
        case .queue: return "queue"
        case .allow: return "allow"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias OwnerId = String

public struct PairingRequest: Codable, Hashable, Sendable {
    public let requestId: AttachmentHandle
    public let deviceId: String
    public let name: String
    public let platform: String
    public let scopes: ScopeList
    public let address: String
    public let requestedAt: Int
    public let expiresAt: Int

    public init(
        requestId: AttachmentHandle,
        deviceId: String,
        name: String,
        platform: String,
        scopes: ScopeList,
        address: String,
        requestedAt: Int,
        expiresAt: Int
    ) {
        self.requestId = requestId
        self.deviceId = deviceId
        self.name = name
        self.platform = platform
        self.scopes = scopes
        self.address = address
        self.requestedAt = requestedAt
        self.expiresAt = expiresAt
    }
}

public struct PendingInjection: Codable, Hashable, Sendable {
    public let id: String
    public let pluginId: OwnerId
    public let text: String
    public let placement: PendingInjectionPlacement
    public let priority: Int
    public let metadata: JsonValue?
    public let createdAt: Int
    public let expiresAt: Int?
    public let runId: String?

    public init(
        id: String,
        pluginId: OwnerId,
        text: String,
        placement: PendingInjectionPlacement,
        priority: Int,
        metadata: JsonValue? = nil,
        createdAt: Int,
        expiresAt: Int? = nil,
        runId: String? = nil
    ) {
        self.id = id
        self.pluginId = pluginId
        self.text = text
        self.placement = placement
        self.priority = priority
        self.metadata = metadata
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.runId = runId
    }
}

public enum PendingInjectionPlacement: RawRepresentable, Codable, Hashable, Sendable {
    case prependContext
    case appendContext
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PendingInjectionPlacement] = [.prependContext, .appendContext]

    public init(rawValue: String) {
        switch rawValue {
        case "prepend_context": self = .prependContext
        case "append_context": self = .appendContext
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .prependContext: return "prepend_context"
        case .appendContext: return "append_context"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum PermissionMode: RawRepresentable, Codable, Hashable, Sendable {
    case ask
    case acceptEdits
    case deny
    case bypass
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PermissionMode] = [.ask, .acceptEdits, .deny, .bypass]

    public init(rawValue: String) {
        switch rawValue {
        case "ask": self = .ask
        case "accept-edits": self = .acceptEdits
        case "deny": self = .deny
        case "bypass": self = .bypass
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .ask: return "ask"
        case .acceptEdits: return "accept-edits"
        case .deny: return "deny"
        case .bypass: return "bypass"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginDetails: Codable, Hashable, Sendable {
    public let id: String
    public let name: String
    public let version: String
    public let description: String?
    public let origin: PluginDetailsOrigin
    public let state: PluginDetailsState
    public let reason: String?
    public let enabled: Bool
    public let generation: Int?
    public let loadedAt: Int?
    public let asked: [Grant]
    public let missing: [Grant]?
    public let granted: [Grant]
    public let registrations: [PluginDetailsRegistrationsItem]
    public let switchedOff: [PluginDetailsSwitchedOffItem]
    public let incidents: [PluginDetailsIncidentsItem]
    public let services: [PluginDetailsServicesItem]
    public let process: PluginDetailsProcess?
    public let folder: String
    public let workspace: String?
    public let treeHash: String?
    public let config: JsonObject
    public let configSchema: JsonObject?
    public let counts: [PluginDetailsCountsItem]

    public init(
        id: String,
        name: String,
        version: String,
        description: String? = nil,
        origin: PluginDetailsOrigin,
        state: PluginDetailsState,
        reason: String? = nil,
        enabled: Bool,
        generation: Int? = nil,
        loadedAt: Int? = nil,
        asked: [Grant],
        missing: [Grant]? = nil,
        granted: [Grant],
        registrations: [PluginDetailsRegistrationsItem],
        switchedOff: [PluginDetailsSwitchedOffItem],
        incidents: [PluginDetailsIncidentsItem],
        services: [PluginDetailsServicesItem],
        process: PluginDetailsProcess? = nil,
        folder: String,
        workspace: String? = nil,
        treeHash: String? = nil,
        config: JsonObject,
        configSchema: JsonObject? = nil,
        counts: [PluginDetailsCountsItem]
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.description = description
        self.origin = origin
        self.state = state
        self.reason = reason
        self.enabled = enabled
        self.generation = generation
        self.loadedAt = loadedAt
        self.asked = asked
        self.missing = missing
        self.granted = granted
        self.registrations = registrations
        self.switchedOff = switchedOff
        self.incidents = incidents
        self.services = services
        self.process = process
        self.folder = folder
        self.workspace = workspace
        self.treeHash = treeHash
        self.config = config
        self.configSchema = configSchema
        self.counts = counts
    }
}

public enum PluginDetailsOrigin: RawRepresentable, Codable, Hashable, Sendable {
    case bundled
    case path
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginDetailsOrigin] = [.bundled, .path]

    public init(rawValue: String) {
        switch rawValue {
        case "bundled": self = .bundled
        case "path": self = .path
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .bundled: return "bundled"
        case .path: return "path"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum PluginDetailsState: RawRepresentable, Codable, Hashable, Sendable {
    case off
    case starting
    case loaded
    case failed
    case ungranted
    case changed
    case rejected
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginDetailsState] = [.off, .starting, .loaded, .failed, .ungranted, .changed, .rejected]

    public init(rawValue: String) {
        switch rawValue {
        case "off": self = .off
        case "starting": self = .starting
        case "loaded": self = .loaded
        case "failed": self = .failed
        case "ungranted": self = .ungranted
        case "changed": self = .changed
        case "rejected": self = .rejected
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .off: return "off"
        case .starting: return "starting"
        case .loaded: return "loaded"
        case .failed: return "failed"
        case .ungranted: return "ungranted"
        case .changed: return "changed"
        case .rejected: return "rejected"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginDetailsRegistrationsItem: Codable, Hashable, Sendable {
    public let kind: String
    public let key: String
    public let accepted: Bool
    public let code: String?
    public let message: String?

    public init(
        kind: String,
        key: String,
        accepted: Bool,
        code: String? = nil,
        message: String? = nil
    ) {
        self.kind = kind
        self.key = key
        self.accepted = accepted
        self.code = code
        self.message = message
    }
}

public struct PluginDetailsSwitchedOffItem: Codable, Hashable, Sendable {
    public let place: String
    public let at: Int
    public let reason: String

    public init(
        place: String,
        at: Int,
        reason: String
    ) {
        self.place = place
        self.at = at
        self.reason = reason
    }
}

public struct PluginDetailsIncidentsItem: Codable, Hashable, Sendable {
    public let kind: PluginDetailsIncidentsItemKind
    public let place: String
    public let message: String
    public let at: Int
    public let count: Int
    public let generation: Int?

    public init(
        kind: PluginDetailsIncidentsItemKind,
        place: String,
        message: String,
        at: Int,
        count: Int,
        generation: Int? = nil
    ) {
        self.kind = kind
        self.place = place
        self.message = message
        self.at = at
        self.count = count
        self.generation = generation
    }
}

public enum PluginDetailsIncidentsItemKind: RawRepresentable, Codable, Hashable, Sendable {
    case threw
    case rejected
    case blocked
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginDetailsIncidentsItemKind] = [.threw, .rejected, .blocked]

    public init(rawValue: String) {
        switch rawValue {
        case "threw": self = .threw
        case "rejected": self = .rejected
        case "blocked": self = .blocked
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .threw: return "threw"
        case .rejected: return "rejected"
        case .blocked: return "blocked"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginDetailsServicesItem: Codable, Hashable, Sendable {
    public let id: String
    public let state: PluginDetailsServicesItemState
    public let reason: String?

    public init(
        id: String,
        state: PluginDetailsServicesItemState,
        reason: String? = nil
    ) {
        self.id = id
        self.state = state
        self.reason = reason
    }
}

public enum PluginDetailsServicesItemState: RawRepresentable, Codable, Hashable, Sendable {
    case starting
    case running
    case failed
    case stopped
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginDetailsServicesItemState] = [.starting, .running, .failed, .stopped]

    public init(rawValue: String) {
        switch rawValue {
        case "starting": self = .starting
        case "running": self = .running
        case "failed": self = .failed
        case "stopped": self = .stopped
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .starting: return "starting"
        case .running: return "running"
        case .failed: return "failed"
        case .stopped: return "stopped"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginDetailsProcess: Codable, Hashable, Sendable {
    public let state: PluginDetailsProcessState
    public let reason: String?
    public let pid: Int?
    public let restartAt: Int?
    public let crashes: Int
    public let sandboxed: Bool
    public let sandbox: String?
    public let reach: PluginDetailsProcessReach
    public let follows: [String]?
    public let leftOut: [PluginDetailsProcessLeftOutItem]?

    public init(
        state: PluginDetailsProcessState,
        reason: String? = nil,
        pid: Int? = nil,
        restartAt: Int? = nil,
        crashes: Int,
        sandboxed: Bool,
        sandbox: String? = nil,
        reach: PluginDetailsProcessReach,
        follows: [String]? = nil,
        leftOut: [PluginDetailsProcessLeftOutItem]? = nil
    ) {
        self.state = state
        self.reason = reason
        self.pid = pid
        self.restartAt = restartAt
        self.crashes = crashes
        self.sandboxed = sandboxed
        self.sandbox = sandbox
        self.reach = reach
        self.follows = follows
        self.leftOut = leftOut
    }
}

public enum PluginDetailsProcessState: RawRepresentable, Codable, Hashable, Sendable {
    case starting
    case ready
    case restarting
    case quarantined
    case failed
    case stopped
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginDetailsProcessState] = [.starting, .ready, .restarting, .quarantined, .failed, .stopped]

    public init(rawValue: String) {
        switch rawValue {
        case "starting": self = .starting
        case "ready": self = .ready
        case "restarting": self = .restarting
        case "quarantined": self = .quarantined
        case "failed": self = .failed
        case "stopped": self = .stopped
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .starting: return "starting"
        case .ready: return "ready"
        case .restarting: return "restarting"
        case .quarantined: return "quarantined"
        case .failed: return "failed"
        case .stopped: return "stopped"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginDetailsProcessReach: Codable, Hashable, Sendable {
    public let net: Bool
    public let read: [String]
    public let write: [String]

    public init(
        net: Bool,
        read: [String],
        write: [String]
    ) {
        self.net = net
        self.read = read
        self.write = write
    }
}

public struct PluginDetailsProcessLeftOutItem: Codable, Hashable, Sendable {
    public let kind: String
    public let key: String
    public let message: String

    public init(
        kind: String,
        key: String,
        message: String
    ) {
        self.kind = kind
        self.key = key
        self.message = message
    }
}

public struct PluginDetailsCountsItem: Codable, Hashable, Sendable {
    public let place: String
    public let calls: Int
    public let errors: Int
    public let timeouts: Int
    public let skipped: Int
    public let lastAt: Int?
    public let p50Ms: Double?
    public let p95Ms: Double?

    public init(
        place: String,
        calls: Int,
        errors: Int,
        timeouts: Int,
        skipped: Int,
        lastAt: Int? = nil,
        p50Ms: Double? = nil,
        p95Ms: Double? = nil
    ) {
        self.place = place
        self.calls = calls
        self.errors = errors
        self.timeouts = timeouts
        self.skipped = skipped
        self.lastAt = lastAt
        self.p50Ms = p50Ms
        self.p95Ms = p95Ms
    }
}

public struct PluginEvent: Codable, Hashable, Sendable {
    public let pluginId: OwnerId
    public let sessionKey: SessionKey?
    public let data: JsonValue

    public init(
        pluginId: OwnerId,
        sessionKey: SessionKey? = nil,
        data: JsonValue
    ) {
        self.pluginId = pluginId
        self.sessionKey = sessionKey
        self.data = data
    }
}

public struct PluginExtension: Codable, Hashable, Sendable {
    public let pluginId: OwnerId
    public let namespace: String
    public let value: JsonValue

    public init(
        pluginId: OwnerId,
        namespace: String,
        value: JsonValue
    ) {
        self.pluginId = pluginId
        self.namespace = namespace
        self.value = value
    }
}

public struct PluginInfo: Codable, Hashable, Sendable {
    public let id: String
    public let name: String
    public let version: String
    public let description: String?
    public let origin: PluginInfoOrigin
    public let state: PluginInfoState
    public let reason: String?
    public let enabled: Bool
    public let generation: Int?
    public let loadedAt: Int?
    public let asked: [Grant]
    public let missing: [Grant]?
    public let granted: [Grant]
    public let registrations: [PluginInfoRegistrationsItem]
    public let switchedOff: [PluginInfoSwitchedOffItem]
    public let incidents: [PluginInfoIncidentsItem]
    public let services: [PluginInfoServicesItem]
    public let process: PluginInfoProcess?

    public init(
        id: String,
        name: String,
        version: String,
        description: String? = nil,
        origin: PluginInfoOrigin,
        state: PluginInfoState,
        reason: String? = nil,
        enabled: Bool,
        generation: Int? = nil,
        loadedAt: Int? = nil,
        asked: [Grant],
        missing: [Grant]? = nil,
        granted: [Grant],
        registrations: [PluginInfoRegistrationsItem],
        switchedOff: [PluginInfoSwitchedOffItem],
        incidents: [PluginInfoIncidentsItem],
        services: [PluginInfoServicesItem],
        process: PluginInfoProcess? = nil
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.description = description
        self.origin = origin
        self.state = state
        self.reason = reason
        self.enabled = enabled
        self.generation = generation
        self.loadedAt = loadedAt
        self.asked = asked
        self.missing = missing
        self.granted = granted
        self.registrations = registrations
        self.switchedOff = switchedOff
        self.incidents = incidents
        self.services = services
        self.process = process
    }
}

public enum PluginInfoOrigin: RawRepresentable, Codable, Hashable, Sendable {
    case bundled
    case path
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginInfoOrigin] = [.bundled, .path]

    public init(rawValue: String) {
        switch rawValue {
        case "bundled": self = .bundled
        case "path": self = .path
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .bundled: return "bundled"
        case .path: return "path"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum PluginInfoState: RawRepresentable, Codable, Hashable, Sendable {
    case off
    case starting
    case loaded
    case failed
    case ungranted
    case changed
    case rejected
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginInfoState] = [.off, .starting, .loaded, .failed, .ungranted, .changed, .rejected]

    public init(rawValue: String) {
        switch rawValue {
        case "off": self = .off
        case "starting": self = .starting
        case "loaded": self = .loaded
        case "failed": self = .failed
        case "ungranted": self = .ungranted
        case "changed": self = .changed
        case "rejected": self = .rejected
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .off: return "off"
        case .starting: return "starting"
        case .loaded: return "loaded"
        case .failed: return "failed"
        case .ungranted: return "ungranted"
        case .changed: return "changed"
        case .rejected: return "rejected"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginInfoRegistrationsItem: Codable, Hashable, Sendable {
    public let kind: String
    public let key: String
    public let accepted: Bool
    public let code: String?
    public let message: String?

    public init(
        kind: String,
        key: String,
        accepted: Bool,
        code: String? = nil,
        message: String? = nil
    ) {
        self.kind = kind
        self.key = key
        self.accepted = accepted
        self.code = code
        self.message = message
    }
}

public struct PluginInfoSwitchedOffItem: Codable, Hashable, Sendable {
    public let place: String
    public let at: Int
    public let reason: String

    public init(
        place: String,
        at: Int,
        reason: String
    ) {
        self.place = place
        self.at = at
        self.reason = reason
    }
}

public struct PluginInfoIncidentsItem: Codable, Hashable, Sendable {
    public let kind: PluginInfoIncidentsItemKind
    public let place: String
    public let message: String
    public let at: Int
    public let count: Int
    public let generation: Int?

    public init(
        kind: PluginInfoIncidentsItemKind,
        place: String,
        message: String,
        at: Int,
        count: Int,
        generation: Int? = nil
    ) {
        self.kind = kind
        self.place = place
        self.message = message
        self.at = at
        self.count = count
        self.generation = generation
    }
}

public enum PluginInfoIncidentsItemKind: RawRepresentable, Codable, Hashable, Sendable {
    case threw
    case rejected
    case blocked
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginInfoIncidentsItemKind] = [.threw, .rejected, .blocked]

    public init(rawValue: String) {
        switch rawValue {
        case "threw": self = .threw
        case "rejected": self = .rejected
        case "blocked": self = .blocked
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .threw: return "threw"
        case .rejected: return "rejected"
        case .blocked: return "blocked"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginInfoServicesItem: Codable, Hashable, Sendable {
    public let id: String
    public let state: PluginInfoServicesItemState
    public let reason: String?

    public init(
        id: String,
        state: PluginInfoServicesItemState,
        reason: String? = nil
    ) {
        self.id = id
        self.state = state
        self.reason = reason
    }
}

public enum PluginInfoServicesItemState: RawRepresentable, Codable, Hashable, Sendable {
    case starting
    case running
    case failed
    case stopped
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginInfoServicesItemState] = [.starting, .running, .failed, .stopped]

    public init(rawValue: String) {
        switch rawValue {
        case "starting": self = .starting
        case "running": self = .running
        case "failed": self = .failed
        case "stopped": self = .stopped
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .starting: return "starting"
        case .running: return "running"
        case .failed: return "failed"
        case .stopped: return "stopped"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginInfoProcess: Codable, Hashable, Sendable {
    public let state: PluginInfoProcessState
    public let reason: String?
    public let pid: Int?
    public let restartAt: Int?
    public let crashes: Int
    public let sandboxed: Bool
    public let sandbox: String?
    public let reach: PluginInfoProcessReach
    public let follows: [String]?
    public let leftOut: [PluginInfoProcessLeftOutItem]?

    public init(
        state: PluginInfoProcessState,
        reason: String? = nil,
        pid: Int? = nil,
        restartAt: Int? = nil,
        crashes: Int,
        sandboxed: Bool,
        sandbox: String? = nil,
        reach: PluginInfoProcessReach,
        follows: [String]? = nil,
        leftOut: [PluginInfoProcessLeftOutItem]? = nil
    ) {
        self.state = state
        self.reason = reason
        self.pid = pid
        self.restartAt = restartAt
        self.crashes = crashes
        self.sandboxed = sandboxed
        self.sandbox = sandbox
        self.reach = reach
        self.follows = follows
        self.leftOut = leftOut
    }
}

public enum PluginInfoProcessState: RawRepresentable, Codable, Hashable, Sendable {
    case starting
    case ready
    case restarting
    case quarantined
    case failed
    case stopped
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginInfoProcessState] = [.starting, .ready, .restarting, .quarantined, .failed, .stopped]

    public init(rawValue: String) {
        switch rawValue {
        case "starting": self = .starting
        case "ready": self = .ready
        case "restarting": self = .restarting
        case "quarantined": self = .quarantined
        case "failed": self = .failed
        case "stopped": self = .stopped
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .starting: return "starting"
        case .ready: return "ready"
        case .restarting: return "restarting"
        case .quarantined: return "quarantined"
        case .failed: return "failed"
        case .stopped: return "stopped"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginInfoProcessReach: Codable, Hashable, Sendable {
    public let net: Bool
    public let read: [String]
    public let write: [String]

    public init(
        net: Bool,
        read: [String],
        write: [String]
    ) {
        self.net = net
        self.read = read
        self.write = write
    }
}

public struct PluginInfoProcessLeftOutItem: Codable, Hashable, Sendable {
    public let kind: String
    public let key: String
    public let message: String

    public init(
        kind: String,
        key: String,
        message: String
    ) {
        self.kind = kind
        self.key = key
        self.message = message
    }
}

public struct PluginManifest: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let name: String
    public let version: String
    public let description: String?
    public let entry: String?
    public let api: Int
    public let grants: [Grant]
    public let configSchema: JsonObject?

    public init(
        id: OwnerId,
        name: String,
        version: String,
        description: String? = nil,
        entry: String? = nil,
        api: Int,
        grants: [Grant],
        configSchema: JsonObject? = nil
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.description = description
        self.entry = entry
        self.api = api
        self.grants = grants
        self.configSchema = configSchema
    }
}

public struct PresenceEntry: Codable, Hashable, Sendable {
    public let connId: String
    public let client: ClientInfo
    public let principal: String
    public let scopes: ScopeList
    public let connectedAt: Int

    public init(
        connId: String,
        client: ClientInfo,
        principal: String,
        scopes: ScopeList,
        connectedAt: Int
    ) {
        self.connId = connId
        self.client = client
        self.principal = principal
        self.scopes = scopes
        self.connectedAt = connectedAt
    }
}

public struct Presentation: Codable, Hashable, Sendable {
    public let title: String
    public let tone: PresentationTone?
    public let blocks: [DeliveryBlock]?
    public let buttons: [DeliveryButton]?

    public init(
        title: String,
        tone: PresentationTone? = nil,
        blocks: [DeliveryBlock]? = nil,
        buttons: [DeliveryButton]? = nil
    ) {
        self.title = title
        self.tone = tone
        self.blocks = blocks
        self.buttons = buttons
    }
}

public enum PresentationTone: RawRepresentable, Codable, Hashable, Sendable {
    case plain
    case ok
    case warn
    case bad
    case busy
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PresentationTone] = [.plain, .ok, .warn, .bad, .busy]

    public init(rawValue: String) {
        switch rawValue {
        case "plain": self = .plain
        case "ok": self = .ok
        case "warn": self = .warn
        case "bad": self = .bad
        case "busy": self = .busy
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .plain: return "plain"
        case .ok: return "ok"
        case .warn: return "warn"
        case .bad: return "bad"
        case .busy: return "busy"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum QueueMode: RawRepresentable, Codable, Hashable, Sendable {
    case collect
    case steer
    case followup
    case interrupt
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [QueueMode] = [.collect, .steer, .followup, .interrupt]

    public init(rawValue: String) {
        switch rawValue {
        case "collect": self = .collect
        case "steer": self = .steer
        case "followup": self = .followup
        case "interrupt": self = .interrupt
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .collect: return "collect"
        case .steer: return "steer"
        case .followup: return "followup"
        case .interrupt: return "interrupt"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias RandomId = String

public struct RequestFrame: Codable, Hashable, Sendable {
    public let type: String
    public let id: String
    public let method: String
    public let params: JsonValue?
    public let traceparent: String?

    public init(
        type: String = "req",
        id: String,
        method: String,
        params: JsonValue? = nil,
        traceparent: String? = nil
    ) {
        self.type = type
        self.id = id
        self.method = method
        self.params = params
        self.traceparent = traceparent
    }
}

public struct ResponseFrame: Codable, Hashable, Sendable {
    public let type: String
    public let id: String
    public let ok: Bool
    public let payload: JsonValue?
    public let error: ErrorShape?

    public init(
        type: String = "res",
        id: String,
        ok: Bool,
        payload: JsonValue? = nil,
        error: ErrorShape? = nil
    ) {
        self.type = type
        self.id = id
        self.ok = ok
        self.payload = payload
        self.error = error
    }
}

public enum Risk: RawRepresentable, Codable, Hashable, Sendable {
    case read
    case write
    case network
    case exec
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [Risk] = [.read, .write, .network, .exec]

    public init(rawValue: String) {
        switch rawValue {
        case "read": self = .read
        case "write": self = .write
        case "network": self = .network
        case "exec": self = .exec
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .read: return "read"
        case .write: return "write"
        case .network: return "network"
        case .exec: return "exec"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct Run: Codable, Hashable, Sendable {
    public let runId: String
    public let sessionKey: String
    public let sessionId: AttachmentHandle
    public let state: RunState
    public let mode: QueueMode
    public let trigger: RunTrigger
    public let joined: String?
    public let createdAt: Int
    public let startedAt: Int?
    public let endedAt: Int?
    public let end: RunEnd?
    public let usage: Usage

    public init(
        runId: String,
        sessionKey: String,
        sessionId: AttachmentHandle,
        state: RunState,
        mode: QueueMode,
        trigger: RunTrigger,
        joined: String? = nil,
        createdAt: Int,
        startedAt: Int? = nil,
        endedAt: Int? = nil,
        end: RunEnd? = nil,
        usage: Usage
    ) {
        self.runId = runId
        self.sessionKey = sessionKey
        self.sessionId = sessionId
        self.state = state
        self.mode = mode
        self.trigger = trigger
        self.joined = joined
        self.createdAt = createdAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.end = end
        self.usage = usage
    }
}

public enum RunState: RawRepresentable, Codable, Hashable, Sendable {
    case queued
    case running
    case ended
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [RunState] = [.queued, .running, .ended]

    public init(rawValue: String) {
        switch rawValue {
        case "queued": self = .queued
        case "running": self = .running
        case "ended": self = .ended
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .queued: return "queued"
        case .running: return "running"
        case .ended: return "ended"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum RunTrigger: RawRepresentable, Codable, Hashable, Sendable {
    case user
    case api
    case heartbeat
    case schedule
    case plugin
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [RunTrigger] = [.user, .api, .heartbeat, .schedule, .plugin]

    public init(rawValue: String) {
        switch rawValue {
        case "user": self = .user
        case "api": self = .api
        case "heartbeat": self = .heartbeat
        case "schedule": self = .schedule
        case "plugin": self = .plugin
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .user: return "user"
        case .api: return "api"
        case .heartbeat: return "heartbeat"
        case .schedule: return "schedule"
        case .plugin: return "plugin"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct RunEnd: Codable, Hashable, Sendable {
    public let kind: RunEndKind
    public let code: String?
    public let reason: String?

    public init(
        kind: RunEndKind,
        code: String? = nil,
        reason: String? = nil
    ) {
        self.kind = kind
        self.code = code
        self.reason = reason
    }
}

public enum RunEndKind: RawRepresentable, Codable, Hashable, Sendable {
    case completed
    case handled
    case aborted
    case refused
    case failed
    case stepLimit
    case costLimit
    case internalError
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [RunEndKind] = [.completed, .handled, .aborted, .refused, .failed, .stepLimit, .costLimit, .internalError]

    public init(rawValue: String) {
        switch rawValue {
        case "completed": self = .completed
        case "handled": self = .handled
        case "aborted": self = .aborted
        case "refused": self = .refused
        case "failed": self = .failed
        case "step_limit": self = .stepLimit
        case "cost_limit": self = .costLimit
        case "internal_error": self = .internalError
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .completed: return "completed"
        case .handled: return "handled"
        case .aborted: return "aborted"
        case .refused: return "refused"
        case .failed: return "failed"
        case .stepLimit: return "step_limit"
        case .costLimit: return "cost_limit"
        case .internalError: return "internal_error"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum RunStream: Codable, Hashable, Sendable {
    case lifecycle(RunStreamLifecycle)
    case assistant(RunStreamAssistant)
    case thinking(RunStreamThinking)
    case tool(RunStreamTool)
    case plugin(RunStreamPlugin)
    /// A type that is newer than these models, kept whole.
    case unknown(stream: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "stream" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "lifecycle": self = .lifecycle(try RunStreamLifecycle(from: decoder))
        case "assistant": self = .assistant(try RunStreamAssistant(from: decoder))
        case "thinking": self = .thinking(try RunStreamThinking(from: decoder))
        case "tool": self = .tool(try RunStreamTool(from: decoder))
        case "plugin": self = .plugin(try RunStreamPlugin(from: decoder))
        default: self = .unknown(stream: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .lifecycle(let frame): try frame.encode(to: encoder)
        case .assistant(let frame): try frame.encode(to: encoder)
        case .thinking(let frame): try frame.encode(to: encoder)
        case .tool(let frame): try frame.encode(to: encoder)
        case .plugin(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct RunStreamLifecycle: Codable, Hashable, Sendable {
    public let runId: String
    public let sessionKey: SessionKey
    public let seq: Int
    public let ts: Int
    public let stream: String
    public let phase: RunStreamLifecyclePhase
    public let detail: String?

    public init(
        runId: String,
        sessionKey: SessionKey,
        seq: Int,
        ts: Int,
        stream: String = "lifecycle",
        phase: RunStreamLifecyclePhase,
        detail: String? = nil
    ) {
        self.runId = runId
        self.sessionKey = sessionKey
        self.seq = seq
        self.ts = ts
        self.stream = stream
        self.phase = phase
        self.detail = detail
    }
}

public enum RunStreamLifecyclePhase: RawRepresentable, Codable, Hashable, Sendable {
    case started
    case resumed
    case model
    case retry
    case fallback
    case compacting
    case waiting
    case discarded
    case ended
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [RunStreamLifecyclePhase] = [.started, .resumed, .model, .retry, .fallback, .compacting, .waiting, .discarded, .ended]

    public init(rawValue: String) {
        switch rawValue {
        case "started": self = .started
        case "resumed": self = .resumed
        case "model": self = .model
        case "retry": self = .retry
        case "fallback": self = .fallback
        case "compacting": self = .compacting
        case "waiting": self = .waiting
        case "discarded": self = .discarded
        case "ended": self = .ended
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .started: return "started"
        case .resumed: return "resumed"
        case .model: return "model"
        case .retry: return "retry"
        case .fallback: return "fallback"
        case .compacting: return "compacting"
        case .waiting: return "waiting"
        case .discarded: return "discarded"
        case .ended: return "ended"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct RunStreamAssistant: Codable, Hashable, Sendable {
    public let runId: String
    public let sessionKey: SessionKey
    public let seq: Int
    public let ts: Int
    public let stream: String
    public let delta: String

    public init(
        runId: String,
        sessionKey: SessionKey,
        seq: Int,
        ts: Int,
        stream: String = "assistant",
        delta: String
    ) {
        self.runId = runId
        self.sessionKey = sessionKey
        self.seq = seq
        self.ts = ts
        self.stream = stream
        self.delta = delta
    }
}

public struct RunStreamThinking: Codable, Hashable, Sendable {
    public let runId: String
    public let sessionKey: SessionKey
    public let seq: Int
    public let ts: Int
    public let stream: String
    public let delta: String

    public init(
        runId: String,
        sessionKey: SessionKey,
        seq: Int,
        ts: Int,
        stream: String = "thinking",
        delta: String
    ) {
        self.runId = runId
        self.sessionKey = sessionKey
        self.seq = seq
        self.ts = ts
        self.stream = stream
        self.delta = delta
    }
}

public struct RunStreamTool: Codable, Hashable, Sendable {
    public let runId: String
    public let sessionKey: SessionKey
    public let seq: Int
    public let ts: Int
    public let stream: String
    public let callId: String
    public let name: String
    public let phase: RunStreamToolPhase
    public let subject: String?
    public let args: JsonObject?
    public let output: String?
    public let isError: Bool?
    public let durationMs: Double?

    public init(
        runId: String,
        sessionKey: SessionKey,
        seq: Int,
        ts: Int,
        stream: String = "tool",
        callId: String,
        name: String,
        phase: RunStreamToolPhase,
        subject: String? = nil,
        args: JsonObject? = nil,
        output: String? = nil,
        isError: Bool? = nil,
        durationMs: Double? = nil
    ) {
        self.runId = runId
        self.sessionKey = sessionKey
        self.seq = seq
        self.ts = ts
        self.stream = stream
        self.callId = callId
        self.name = name
        self.phase = phase
        self.subject = subject
        self.args = args
        self.output = output
        self.isError = isError
        self.durationMs = durationMs
    }
}

public enum RunStreamToolPhase: RawRepresentable, Codable, Hashable, Sendable {
    case writing
    case started
    case output
    case ended
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [RunStreamToolPhase] = [.writing, .started, .output, .ended]

    public init(rawValue: String) {
        switch rawValue {
        case "writing": self = .writing
        case "started": self = .started
        case "output": self = .output
        case "ended": self = .ended
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .writing: return "writing"
        case .started: return "started"
        case .output: return "output"
        case .ended: return "ended"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct RunStreamPlugin: Codable, Hashable, Sendable {
    public let runId: String
    public let sessionKey: SessionKey
    public let seq: Int
    public let ts: Int
    public let stream: String
    public let plugin: OwnerId
    public let name: String
    public let data: JsonValue

    public init(
        runId: String,
        sessionKey: SessionKey,
        seq: Int,
        ts: Int,
        stream: String = "plugin",
        plugin: OwnerId,
        name: String,
        data: JsonValue
    ) {
        self.runId = runId
        self.sessionKey = sessionKey
        self.seq = seq
        self.ts = ts
        self.stream = stream
        self.plugin = plugin
        self.name = name
        self.data = data
    }
}

public struct SandboxState: Codable, Hashable, Sendable {
    public let kind: SandboxStateKind
    public let reason: String

    public init(
        kind: SandboxStateKind,
        reason: String
    ) {
        self.kind = kind
        self.reason = reason
    }
}

public enum SandboxStateKind: RawRepresentable, Codable, Hashable, Sendable {
    case bubblewrap
    case unshare
    case none
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [SandboxStateKind] = [.bubblewrap, .unshare, .none]

    public init(rawValue: String) {
        switch rawValue {
        case "bubblewrap": self = .bubblewrap
        case "unshare": self = .unshare
        case "none": self = .none
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .bubblewrap: return "bubblewrap"
        case .unshare: return "unshare"
        case .none: return "none"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum Schedule: Codable, Hashable, Sendable {
    case at(ScheduleAt)
    case every(ScheduleEvery)
    case cron(ScheduleCron)
    /// A type that is newer than these models, kept whole.
    case unknown(kind: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "kind" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "at": self = .at(try ScheduleAt(from: decoder))
        case "every": self = .every(try ScheduleEvery(from: decoder))
        case "cron": self = .cron(try ScheduleCron(from: decoder))
        default: self = .unknown(kind: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .at(let frame): try frame.encode(to: encoder)
        case .every(let frame): try frame.encode(to: encoder)
        case .cron(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct ScheduleAt: Codable, Hashable, Sendable {
    public let kind: String
    public let at: Int

    public init(
        kind: String = "at",
        at: Int
    ) {
        self.kind = kind
        self.at = at
    }
}

public struct ScheduleEvery: Codable, Hashable, Sendable {
    public let kind: String
    public let everyMs: IntervalMs
    public let anchorAt: Int?

    public init(
        kind: String = "every",
        everyMs: IntervalMs,
        anchorAt: Int? = nil
    ) {
        self.kind = kind
        self.everyMs = everyMs
        self.anchorAt = anchorAt
    }
}

public struct ScheduleCron: Codable, Hashable, Sendable {
    public let kind: String
    public let cron: CronText
    public let tz: TimeZone?

    public init(
        kind: String = "cron",
        cron: CronText,
        tz: TimeZone? = nil
    ) {
        self.kind = kind
        self.cron = cron
        self.tz = tz
    }
}

public enum ScheduleWish: Codable, Hashable, Sendable {
    case at(ScheduleWishAt)
    case in_(ScheduleWishIn)
    case every(ScheduleWishEvery)
    case cron(ScheduleWishCron)
    /// A type that is newer than these models, kept whole.
    case unknown(kind: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "kind" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "at": self = .at(try ScheduleWishAt(from: decoder))
        case "in": self = .in_(try ScheduleWishIn(from: decoder))
        case "every": self = .every(try ScheduleWishEvery(from: decoder))
        case "cron": self = .cron(try ScheduleWishCron(from: decoder))
        default: self = .unknown(kind: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .at(let frame): try frame.encode(to: encoder)
        case .in_(let frame): try frame.encode(to: encoder)
        case .every(let frame): try frame.encode(to: encoder)
        case .cron(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct ScheduleWishAt: Codable, Hashable, Sendable {
    public let kind: String
    public let at: Int

    public init(
        kind: String = "at",
        at: Int
    ) {
        self.kind = kind
        self.at = at
    }
}

public struct ScheduleWishIn: Codable, Hashable, Sendable {
    public let kind: String
    public let delayMs: Int

    public init(
        kind: String = "in",
        delayMs: Int
    ) {
        self.kind = kind
        self.delayMs = delayMs
    }
}

public struct ScheduleWishEvery: Codable, Hashable, Sendable {
    public let kind: String
    public let everyMs: IntervalMs
    public let anchorAt: Int?

    public init(
        kind: String = "every",
        everyMs: IntervalMs,
        anchorAt: Int? = nil
    ) {
        self.kind = kind
        self.everyMs = everyMs
        self.anchorAt = anchorAt
    }
}

public struct ScheduleWishCron: Codable, Hashable, Sendable {
    public let kind: String
    public let cron: CronText
    public let tz: TimeZone?

    public init(
        kind: String = "cron",
        cron: CronText,
        tz: TimeZone? = nil
    ) {
        self.kind = kind
        self.cron = cron
        self.tz = tz
    }
}

public typealias ScopeList = [Scope]

public struct Session: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let sessionId: AttachmentHandle
    public let agentId: OwnerId
    public let title: String
    public let label: Nullable<String>
    public let pinned: Bool
    public let archived: Bool
    public let model: Nullable<ModelId>
    public let thinking: Nullable<ThinkingLevel>
    public let permissions: Nullable<PermissionMode>
    public let queue: Nullable<QueueMode>
    public let status: SessionStatus
    public let forkedFrom: SessionKey?
    public let revision: Int
    public let pluginExtensions: [PluginExtension]?
    public let slots: JsonObject?
    public let pendingInjections: Int?
    public let createdAt: Int
    public let updatedAt: Int

    public init(
        key: SessionKey,
        sessionId: AttachmentHandle,
        agentId: OwnerId,
        title: String,
        label: Nullable<String>,
        pinned: Bool,
        archived: Bool,
        model: Nullable<ModelId>,
        thinking: Nullable<ThinkingLevel>,
        permissions: Nullable<PermissionMode>,
        queue: Nullable<QueueMode>,
        status: SessionStatus,
        forkedFrom: SessionKey? = nil,
        revision: Int,
        pluginExtensions: [PluginExtension]? = nil,
        slots: JsonObject? = nil,
        pendingInjections: Int? = nil,
        createdAt: Int,
        updatedAt: Int
    ) {
        self.key = key
        self.sessionId = sessionId
        self.agentId = agentId
        self.title = title
        self.label = label
        self.pinned = pinned
        self.archived = archived
        self.model = model
        self.thinking = thinking
        self.permissions = permissions
        self.queue = queue
        self.status = status
        self.forkedFrom = forkedFrom
        self.revision = revision
        self.pluginExtensions = pluginExtensions
        self.slots = slots
        self.pendingInjections = pendingInjections
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

public typealias SessionKey = String

public enum SessionStatus: RawRepresentable, Codable, Hashable, Sendable {
    case idle
    case queued
    case running
    case waiting
    case failed
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [SessionStatus] = [.idle, .queued, .running, .waiting, .failed]

    public init(rawValue: String) {
        switch rawValue {
        case "idle": self = .idle
        case "queued": self = .queued
        case "running": self = .running
        case "waiting": self = .waiting
        case "failed": self = .failed
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .idle: return "idle"
        case .queued: return "queued"
        case .running: return "running"
        case .waiting: return "waiting"
        case .failed: return "failed"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct StatePlace: Codable, Hashable, Sendable {
    public let namespace: ItemName
    public let path: String?

    public init(
        namespace: ItemName,
        path: String? = nil
    ) {
        self.namespace = namespace
        self.path = path
    }
}

public struct StateVersion: Codable, Hashable, Sendable {
    public let presence: Int
    public let health: Int

    public init(
        presence: Int,
        health: Int
    ) {
        self.presence = presence
        self.health = health
    }
}

public struct Status: Codable, Hashable, Sendable {
    public let version: String
    public let protocol_: Int
    public let pid: Int
    public let url: String
    public let startedAt: Int
    public let uptimeMs: Int
    public let auth: String
    public let store: StatusStore
    public let events: StatusEvents
    public let connections: Int
    public let memory: StatusMemory
    public let health: Health
    public let warnings: [String]

    public init(
        version: String,
        protocol_: Int,
        pid: Int,
        url: String,
        startedAt: Int,
        uptimeMs: Int,
        auth: String,
        store: StatusStore,
        events: StatusEvents,
        connections: Int,
        memory: StatusMemory,
        health: Health,
        warnings: [String]
    ) {
        self.version = version
        self.protocol_ = protocol_
        self.pid = pid
        self.url = url
        self.startedAt = startedAt
        self.uptimeMs = uptimeMs
        self.auth = auth
        self.store = store
        self.events = events
        self.connections = connections
        self.memory = memory
        self.health = health
        self.warnings = warnings
    }

    enum CodingKeys: String, CodingKey {
        case version = "version"
        case protocol_ = "protocol"
        case pid = "pid"
        case url = "url"
        case startedAt = "startedAt"
        case uptimeMs = "uptimeMs"
        case auth = "auth"
        case store = "store"
        case events = "events"
        case connections = "connections"
        case memory = "memory"
        case health = "health"
        case warnings = "warnings"
    }
}

public struct StatusStore: Codable, Hashable, Sendable {
    public let engine: String
    public let location: String
    public let schemaVersion: Int

    public init(
        engine: String,
        location: String,
        schemaVersion: Int
    ) {
        self.engine = engine
        self.location = location
        self.schemaVersion = schemaVersion
    }
}

public struct StatusEvents: Codable, Hashable, Sendable {
    public let epoch: String
    public let seq: Int

    public init(
        epoch: String,
        seq: Int
    ) {
        self.epoch = epoch
        self.seq = seq
    }
}

public struct StatusMemory: Codable, Hashable, Sendable {
    public let residentBytes: Int
    public let heapBytes: Int

    public init(
        residentBytes: Int,
        heapBytes: Int
    ) {
        self.residentBytes = residentBytes
        self.heapBytes = heapBytes
    }
}

public struct TextBlock: Codable, Hashable, Sendable {
    public let type: String
    public let text: String

    public init(
        type: String = "text",
        text: String
    ) {
        self.type = type
        self.text = text
    }
}

public enum ThinkingLevel: RawRepresentable, Codable, Hashable, Sendable {
    case off
    case minimal
    case low
    case medium
    case high
    case xhigh
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ThinkingLevel] = [.off, .minimal, .low, .medium, .high, .xhigh]

    public init(rawValue: String) {
        switch rawValue {
        case "off": self = .off
        case "minimal": self = .minimal
        case "low": self = .low
        case "medium": self = .medium
        case "high": self = .high
        case "xhigh": self = .xhigh
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .off: return "off"
        case .minimal: return "minimal"
        case .low: return "low"
        case .medium: return "medium"
        case .high: return "high"
        case .xhigh: return "xhigh"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias TimeZone = String

public struct Token: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let name: String
    public let scopes: ScopeList
    public let sessionKey: Nullable<SessionKey>
    public let createdAt: Int
    public let expiresAt: Nullable<Int>
    public let revokedAt: Nullable<Int>
    public let lastUsedAt: Nullable<Int>

    public init(
        id: AttachmentHandle,
        name: String,
        scopes: ScopeList,
        sessionKey: Nullable<SessionKey>,
        createdAt: Int,
        expiresAt: Nullable<Int>,
        revokedAt: Nullable<Int>,
        lastUsedAt: Nullable<Int>
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.sessionKey = sessionKey
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedAt = lastUsedAt
    }
}

public struct ToolCallBlock: Codable, Hashable, Sendable {
    public let type: String
    public let id: String
    public let name: String
    public let arguments: JsonObject
    public let malformed: String?
    public let thoughtSignature: String?

    public init(
        type: String = "toolCall",
        id: String,
        name: String,
        arguments: JsonObject,
        malformed: String? = nil,
        thoughtSignature: String? = nil
    ) {
        self.type = type
        self.id = id
        self.name = name
        self.arguments = arguments
        self.malformed = malformed
        self.thoughtSignature = thoughtSignature
    }
}

public struct ToolInfo: Codable, Hashable, Sendable {
    public let id: String
    public let label: String
    public let description: String
    public let source: ToolInfoSource
    public let pluginId: OwnerId?
    public let risk: Risk
    public let riskLevel: ToolInfoRiskLevel?
    public let tags: [String]
    public let idempotent: Bool
    public let parallelSafe: Bool
    public let optional: Bool?
    public let perSession: Bool?
    public let parameters: JsonObject

    public init(
        id: String,
        label: String,
        description: String,
        source: ToolInfoSource,
        pluginId: OwnerId? = nil,
        risk: Risk,
        riskLevel: ToolInfoRiskLevel? = nil,
        tags: [String],
        idempotent: Bool,
        parallelSafe: Bool,
        optional: Bool? = nil,
        perSession: Bool? = nil,
        parameters: JsonObject
    ) {
        self.id = id
        self.label = label
        self.description = description
        self.source = source
        self.pluginId = pluginId
        self.risk = risk
        self.riskLevel = riskLevel
        self.tags = tags
        self.idempotent = idempotent
        self.parallelSafe = parallelSafe
        self.optional = optional
        self.perSession = perSession
        self.parameters = parameters
    }
}

public enum ToolInfoSource: RawRepresentable, Codable, Hashable, Sendable {
    case core
    case plugin
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ToolInfoSource] = [.core, .plugin]

    public init(rawValue: String) {
        switch rawValue {
        case "core": self = .core
        case "plugin": self = .plugin
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .core: return "core"
        case .plugin: return "plugin"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum ToolInfoRiskLevel: RawRepresentable, Codable, Hashable, Sendable {
    case low
    case medium
    case high
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ToolInfoRiskLevel] = [.low, .medium, .high]

    public init(rawValue: String) {
        switch rawValue {
        case "low": self = .low
        case "medium": self = .medium
        case "high": self = .high
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .low: return "low"
        case .medium: return "medium"
        case .high: return "high"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias ToolMatcher = [String]

public struct ToolResultMessage: Codable, Hashable, Sendable {
    public let role: String
    public let toolCallId: String
    public let toolName: String
    public let content: [ToolResultMessageContentItem]
    public let isError: Bool
    public let details: JsonObject?
    public let provenance: String?
    public let durationMs: Double?
    public let timestamp: Int

    public init(
        role: String = "toolResult",
        toolCallId: String,
        toolName: String,
        content: [ToolResultMessageContentItem],
        isError: Bool,
        details: JsonObject? = nil,
        provenance: String? = nil,
        durationMs: Double? = nil,
        timestamp: Int
    ) {
        self.role = role
        self.toolCallId = toolCallId
        self.toolName = toolName
        self.content = content
        self.isError = isError
        self.details = details
        self.provenance = provenance
        self.durationMs = durationMs
        self.timestamp = timestamp
    }
}

public enum ToolResultMessageContentItem: Codable, Hashable, Sendable {
    case text(TextBlock)
    case image(ImageBlock)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "text": self = .text(try TextBlock(from: decoder))
        case "image": self = .image(try ImageBlock(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let frame): try frame.encode(to: encoder)
        case .image(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct TraceChange: Codable, Hashable, Sendable {
    public let path: String
    public let before: JsonValue?
    public let after: JsonValue?

    public init(
        path: String,
        before: JsonValue? = nil,
        after: JsonValue? = nil
    ) {
        self.path = path
        self.before = before
        self.after = after
    }
}

public struct TraceRecord: Codable, Hashable, Sendable {
    public let seq: Int
    public let at: Int
    public let sessionKey: SessionKey
    public let runId: String?
    public let dispatch: Int
    public let place: String
    public let plugin: String
    public let order: Int
    public let priority: Int?
    public let durationMs: Double
    public let times: Int?
    public let outcome: TraceRecordOutcome
    public let reason: String?
    public let changes: [TraceChange]?
    public let moreChanges: Int?

    public init(
        seq: Int,
        at: Int,
        sessionKey: SessionKey,
        runId: String? = nil,
        dispatch: Int,
        place: String,
        plugin: String,
        order: Int,
        priority: Int? = nil,
        durationMs: Double,
        times: Int? = nil,
        outcome: TraceRecordOutcome,
        reason: String? = nil,
        changes: [TraceChange]? = nil,
        moreChanges: Int? = nil
    ) {
        self.seq = seq
        self.at = at
        self.sessionKey = sessionKey
        self.runId = runId
        self.dispatch = dispatch
        self.place = place
        self.plugin = plugin
        self.order = order
        self.priority = priority
        self.durationMs = durationMs
        self.times = times
        self.outcome = outcome
        self.reason = reason
        self.changes = changes
        self.moreChanges = moreChanges
    }
}

public enum TraceRecordOutcome: RawRepresentable, Codable, Hashable, Sendable {
    case unchanged
    case changed
    case refused
    case claimed
    case failed
    case timedOut
    case aborted
    case dropped
    case skipped
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [TraceRecordOutcome] = [.unchanged, .changed, .refused, .claimed, .failed, .timedOut, .aborted, .dropped, .skipped]

    public init(rawValue: String) {
        switch rawValue {
        case "unchanged": self = .unchanged
        case "changed": self = .changed
        case "refused": self = .refused
        case "claimed": self = .claimed
        case "failed": self = .failed
        case "timed-out": self = .timedOut
        case "aborted": self = .aborted
        case "dropped": self = .dropped
        case "skipped": self = .skipped
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .unchanged: return "unchanged"
        case .changed: return "changed"
        case .refused: return "refused"
        case .claimed: return "claimed"
        case .failed: return "failed"
        case .timedOut: return "timed-out"
        case .aborted: return "aborted"
        case .dropped: return "dropped"
        case .skipped: return "skipped"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct TreeNode: Codable, Hashable, Sendable {
    public let id: String
    public let parentId: Nullable<String>
    public let type: String
    public let role: String?
    public let at: Int
    public let preview: String
    public let label: String?
    public let current: Bool

    public init(
        id: String,
        parentId: Nullable<String>,
        type: String,
        role: String? = nil,
        at: Int,
        preview: String,
        label: String? = nil,
        current: Bool
    ) {
        self.id = id
        self.parentId = parentId
        self.type = type
        self.role = role
        self.at = at
        self.preview = preview
        self.label = label
        self.current = current
    }
}

public struct UiAction: Codable, Hashable, Sendable {
    public let label: String
    public let style: UiActionStyle?
    public let actionId: ItemName?
    public let command: String?
    public let payload: JsonValue?
    public let payloadFrom: StatePlace?
    public let ask: Bool?
    public let when: ActiveWhen?

    public init(
        label: String,
        style: UiActionStyle? = nil,
        actionId: ItemName? = nil,
        command: String? = nil,
        payload: JsonValue? = nil,
        payloadFrom: StatePlace? = nil,
        ask: Bool? = nil,
        when: ActiveWhen? = nil
    ) {
        self.label = label
        self.style = style
        self.actionId = actionId
        self.command = command
        self.payload = payload
        self.payloadFrom = payloadFrom
        self.ask = ask
        self.when = when
    }
}

public enum UiActionStyle: RawRepresentable, Codable, Hashable, Sendable {
    case primary
    case normal
    case danger
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiActionStyle] = [.primary, .normal, .danger]

    public init(rawValue: String) {
        switch rawValue {
        case "primary": self = .primary
        case "normal": self = .normal
        case "danger": self = .danger
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .primary: return "primary"
        case .normal: return "normal"
        case .danger: return "danger"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct UiBlock: Codable, Hashable, Sendable {
    public let kind: UiBlockKind
    public let label: String?
    public let text: String?
    public let from: StatePlace?
    public let itemAction: UiItemAction?
    public let when: ActiveWhen?

    public init(
        kind: UiBlockKind,
        label: String? = nil,
        text: String? = nil,
        from: StatePlace? = nil,
        itemAction: UiItemAction? = nil,
        when: ActiveWhen? = nil
    ) {
        self.kind = kind
        self.label = label
        self.text = text
        self.from = from
        self.itemAction = itemAction
        self.when = when
    }
}

public enum UiBlockKind: RawRepresentable, Codable, Hashable, Sendable {
    case markdown
    case keyValue
    case list
    case table
    case progress
    case status
    case diff
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiBlockKind] = [.markdown, .keyValue, .list, .table, .progress, .status, .diff]

    public init(rawValue: String) {
        switch rawValue {
        case "markdown": self = .markdown
        case "key-value": self = .keyValue
        case "list": self = .list
        case "table": self = .table
        case "progress": self = .progress
        case "status": self = .status
        case "diff": self = .diff
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .markdown: return "markdown"
        case .keyValue: return "key-value"
        case .list: return "list"
        case .table: return "table"
        case .progress: return "progress"
        case .status: return "status"
        case .diff: return "diff"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct UiDescriptor: Codable, Hashable, Sendable {
    public let pluginId: OwnerId
    public let pluginName: String
    public let id: ItemName
    public let label: String
    public let surface: UiDescriptorSurface
    public let description: String?
    public let priority: Int?
    public let activeWhen: ActiveWhen?
    public let composer: UiDescriptorComposer?
    public let requiredScopes: ScopeList?
    public let view: [UiDescriptorViewItem]?
    public let actions: [UiDescriptorActionsItem]?
    public let options: [UiDescriptorOptionsItem]?

    public init(
        pluginId: OwnerId,
        pluginName: String,
        id: ItemName,
        label: String,
        surface: UiDescriptorSurface,
        description: String? = nil,
        priority: Int? = nil,
        activeWhen: ActiveWhen? = nil,
        composer: UiDescriptorComposer? = nil,
        requiredScopes: ScopeList? = nil,
        view: [UiDescriptorViewItem]? = nil,
        actions: [UiDescriptorActionsItem]? = nil,
        options: [UiDescriptorOptionsItem]? = nil
    ) {
        self.pluginId = pluginId
        self.pluginName = pluginName
        self.id = id
        self.label = label
        self.surface = surface
        self.description = description
        self.priority = priority
        self.activeWhen = activeWhen
        self.composer = composer
        self.requiredScopes = requiredScopes
        self.view = view
        self.actions = actions
        self.options = options
    }
}

public enum UiDescriptorSurface: RawRepresentable, Codable, Hashable, Sendable {
    case session
    case chatMessage
    case chatInputBar
    case chatInputToolbarChip
    case status
    case settings
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiDescriptorSurface] = [.session, .chatMessage, .chatInputBar, .chatInputToolbarChip, .status, .settings]

    public init(rawValue: String) {
        switch rawValue {
        case "session": self = .session
        case "chat-message": self = .chatMessage
        case "chat-input-bar": self = .chatInputBar
        case "chat-input-toolbar-chip": self = .chatInputToolbarChip
        case "status": self = .status
        case "settings": self = .settings
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .session: return "session"
        case .chatMessage: return "chat-message"
        case .chatInputBar: return "chat-input-bar"
        case .chatInputToolbarChip: return "chat-input-toolbar-chip"
        case .status: return "status"
        case .settings: return "settings"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct UiDescriptorComposer: Codable, Hashable, Sendable {
    public let mode: UiDescriptorComposerMode
    public let reason: String

    public init(
        mode: UiDescriptorComposerMode,
        reason: String
    ) {
        self.mode = mode
        self.reason = reason
    }
}

public enum UiDescriptorComposerMode: RawRepresentable, Codable, Hashable, Sendable {
    case normal
    case confirm
    case disabled
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiDescriptorComposerMode] = [.normal, .confirm, .disabled]

    public init(rawValue: String) {
        switch rawValue {
        case "normal": self = .normal
        case "confirm": self = .confirm
        case "disabled": self = .disabled
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .normal: return "normal"
        case .confirm: return "confirm"
        case .disabled: return "disabled"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct UiDescriptorViewItem: Codable, Hashable, Sendable {
    public let kind: UiDescriptorViewItemKind
    public let label: String?
    public let text: String?
    public let from: StatePlace?
    public let itemAction: UiDescriptorViewItemItemAction?
    public let when: ActiveWhen?

    public init(
        kind: UiDescriptorViewItemKind,
        label: String? = nil,
        text: String? = nil,
        from: StatePlace? = nil,
        itemAction: UiDescriptorViewItemItemAction? = nil,
        when: ActiveWhen? = nil
    ) {
        self.kind = kind
        self.label = label
        self.text = text
        self.from = from
        self.itemAction = itemAction
        self.when = when
    }
}

public enum UiDescriptorViewItemKind: RawRepresentable, Codable, Hashable, Sendable {
    case markdown
    case keyValue
    case list
    case table
    case progress
    case status
    case diff
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiDescriptorViewItemKind] = [.markdown, .keyValue, .list, .table, .progress, .status, .diff]

    public init(rawValue: String) {
        switch rawValue {
        case "markdown": self = .markdown
        case "key-value": self = .keyValue
        case "list": self = .list
        case "table": self = .table
        case "progress": self = .progress
        case "status": self = .status
        case "diff": self = .diff
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .markdown: return "markdown"
        case .keyValue: return "key-value"
        case .list: return "list"
        case .table: return "table"
        case .progress: return "progress"
        case .status: return "status"
        case .diff: return "diff"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct UiDescriptorViewItemItemAction: Codable, Hashable, Sendable {
    public let label: String
    public let actionId: ItemName
    public let fields: [ItemName]
    public let description: String?
    public let schema: JsonValue?
    public let unavailable: String?

    public init(
        label: String,
        actionId: ItemName,
        fields: [ItemName],
        description: String? = nil,
        schema: JsonValue? = nil,
        unavailable: String? = nil
    ) {
        self.label = label
        self.actionId = actionId
        self.fields = fields
        self.description = description
        self.schema = schema
        self.unavailable = unavailable
    }
}

public struct UiDescriptorActionsItem: Codable, Hashable, Sendable {
    public let label: String
    public let style: UiDescriptorActionsItemStyle?
    public let actionId: ItemName?
    public let command: String?
    public let payload: JsonValue?
    public let payloadFrom: StatePlace?
    public let ask: Bool?
    public let when: ActiveWhen?
    public let description: String?
    public let schema: JsonValue?
    public let unavailable: String?

    public init(
        label: String,
        style: UiDescriptorActionsItemStyle? = nil,
        actionId: ItemName? = nil,
        command: String? = nil,
        payload: JsonValue? = nil,
        payloadFrom: StatePlace? = nil,
        ask: Bool? = nil,
        when: ActiveWhen? = nil,
        description: String? = nil,
        schema: JsonValue? = nil,
        unavailable: String? = nil
    ) {
        self.label = label
        self.style = style
        self.actionId = actionId
        self.command = command
        self.payload = payload
        self.payloadFrom = payloadFrom
        self.ask = ask
        self.when = when
        self.description = description
        self.schema = schema
        self.unavailable = unavailable
    }
}

public enum UiDescriptorActionsItemStyle: RawRepresentable, Codable, Hashable, Sendable {
    case primary
    case normal
    case danger
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiDescriptorActionsItemStyle] = [.primary, .normal, .danger]

    public init(rawValue: String) {
        switch rawValue {
        case "primary": self = .primary
        case "normal": self = .normal
        case "danger": self = .danger
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .primary: return "primary"
        case .normal: return "normal"
        case .danger: return "danger"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct UiDescriptorOptionsItem: Codable, Hashable, Sendable {
    public let label: String
    public let when: ActiveWhen?
    public let action: UiDescriptorOptionsItemAction

    public init(
        label: String,
        when: ActiveWhen? = nil,
        action: UiDescriptorOptionsItemAction
    ) {
        self.label = label
        self.when = when
        self.action = action
    }
}

public struct UiDescriptorOptionsItemAction: Codable, Hashable, Sendable {
    public let actionId: ItemName?
    public let command: String?
    public let payload: JsonValue?
    public let payloadFrom: StatePlace?
    public let description: String?
    public let schema: JsonValue?
    public let unavailable: String?

    public init(
        actionId: ItemName? = nil,
        command: String? = nil,
        payload: JsonValue? = nil,
        payloadFrom: StatePlace? = nil,
        description: String? = nil,
        schema: JsonValue? = nil,
        unavailable: String? = nil
    ) {
        self.actionId = actionId
        self.command = command
        self.payload = payload
        self.payloadFrom = payloadFrom
        self.description = description
        self.schema = schema
        self.unavailable = unavailable
    }
}

public struct UiItemAction: Codable, Hashable, Sendable {
    public let label: String
    public let actionId: ItemName
    public let fields: [ItemName]

    public init(
        label: String,
        actionId: ItemName,
        fields: [ItemName]
    ) {
        self.label = label
        self.actionId = actionId
        self.fields = fields
    }
}

public struct UiNotice: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let extension_: OwnerId
    public let via: String?
    public let level: UiNoticeLevel
    public let message: String

    public init(
        sessionKey: SessionKey,
        extension_: OwnerId,
        via: String? = nil,
        level: UiNoticeLevel,
        message: String
    ) {
        self.sessionKey = sessionKey
        self.extension_ = extension_
        self.via = via
        self.level = level
        self.message = message
    }

    enum CodingKeys: String, CodingKey {
        case sessionKey = "sessionKey"
        case extension_ = "extension"
        case via = "via"
        case level = "level"
        case message = "message"
    }
}

public enum UiNoticeLevel: RawRepresentable, Codable, Hashable, Sendable {
    case info
    case warn
    case error
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiNoticeLevel] = [.info, .warn, .error]

    public init(rawValue: String) {
        switch rawValue {
        case "info": self = .info
        case "warn": self = .warn
        case "error": self = .error
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .info: return "info"
        case .warn: return "warn"
        case .error: return "error"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct UiOption: Codable, Hashable, Sendable {
    public let label: String
    public let when: ActiveWhen?
    public let action: UiOptionAction

    public init(
        label: String,
        when: ActiveWhen? = nil,
        action: UiOptionAction
    ) {
        self.label = label
        self.when = when
        self.action = action
    }
}

public struct UiOptionAction: Codable, Hashable, Sendable {
    public let actionId: ItemName?
    public let command: String?
    public let payload: JsonValue?
    public let payloadFrom: StatePlace?

    public init(
        actionId: ItemName? = nil,
        command: String? = nil,
        payload: JsonValue? = nil,
        payloadFrom: StatePlace? = nil
    ) {
        self.actionId = actionId
        self.command = command
        self.payload = payload
        self.payloadFrom = payloadFrom
    }
}

public struct UiQuestion: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let sessionKey: SessionKey
    public let extension_: OwnerId
    public let via: String?
    public let kind: UiQuestionKind
    public let prompt: String
    public let options: [String]?
    public let default_: String?
    public let state: UiQuestionState
    public let reason: String?
    public let answer: UiQuestionAnswer?
    public let answeredBy: String?
    public let createdAt: Int
    public let expiresAt: Int
    public let settledAt: Int?

    public init(
        id: AttachmentHandle,
        sessionKey: SessionKey,
        extension_: OwnerId,
        via: String? = nil,
        kind: UiQuestionKind,
        prompt: String,
        options: [String]? = nil,
        default_: String? = nil,
        state: UiQuestionState,
        reason: String? = nil,
        answer: UiQuestionAnswer? = nil,
        answeredBy: String? = nil,
        createdAt: Int,
        expiresAt: Int,
        settledAt: Int? = nil
    ) {
        self.id = id
        self.sessionKey = sessionKey
        self.extension_ = extension_
        self.via = via
        self.kind = kind
        self.prompt = prompt
        self.options = options
        self.default_ = default_
        self.state = state
        self.reason = reason
        self.answer = answer
        self.answeredBy = answeredBy
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.settledAt = settledAt
    }

    enum CodingKeys: String, CodingKey {
        case id = "id"
        case sessionKey = "sessionKey"
        case extension_ = "extension"
        case via = "via"
        case kind = "kind"
        case prompt = "prompt"
        case options = "options"
        case default_ = "default"
        case state = "state"
        case reason = "reason"
        case answer = "answer"
        case answeredBy = "answeredBy"
        case createdAt = "createdAt"
        case expiresAt = "expiresAt"
        case settledAt = "settledAt"
    }
}

public enum UiQuestionKind: RawRepresentable, Codable, Hashable, Sendable {
    case select
    case confirm
    case input
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiQuestionKind] = [.select, .confirm, .input]

    public init(rawValue: String) {
        switch rawValue {
        case "select": self = .select
        case "confirm": self = .confirm
        case "input": self = .input
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .select: return "select"
        case .confirm: return "confirm"
        case .input: return "input"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum UiQuestionState: RawRepresentable, Codable, Hashable, Sendable {
    case pending
    case answered
    case cancelled
    case expired
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiQuestionState] = [.pending, .answered, .cancelled, .expired]

    public init(rawValue: String) {
        switch rawValue {
        case "pending": self = .pending
        case "answered": self = .answered
        case "cancelled": self = .cancelled
        case "expired": self = .expired
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .pending: return "pending"
        case .answered: return "answered"
        case .cancelled: return "cancelled"
        case .expired: return "expired"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct UiQuestionAnswer: Codable, Hashable, Sendable {
    public let value: String?
    public let confirmed: Bool?

    public init(
        value: String? = nil,
        confirmed: Bool? = nil
    ) {
        self.value = value
        self.confirmed = confirmed
    }
}

public typealias UiReply = JsonValue

public struct UiShown: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let extension_: OwnerId
    public let via: String?
    public let status: String?
    public let title: String?
    public let widget: JsonObject?

    public init(
        sessionKey: SessionKey,
        extension_: OwnerId,
        via: String? = nil,
        status: String? = nil,
        title: String? = nil,
        widget: JsonObject? = nil
    ) {
        self.sessionKey = sessionKey
        self.extension_ = extension_
        self.via = via
        self.status = status
        self.title = title
        self.widget = widget
    }

    enum CodingKeys: String, CodingKey {
        case sessionKey = "sessionKey"
        case extension_ = "extension"
        case via = "via"
        case status = "status"
        case title = "title"
        case widget = "widget"
    }
}

public struct Usage: Codable, Hashable, Sendable {
    public let input: Int
    public let output: Int
    public let cacheRead: Int
    public let cacheWrite: Int
    public let costUsd: Double

    public init(
        input: Int,
        output: Int,
        cacheRead: Int,
        cacheWrite: Int,
        costUsd: Double
    ) {
        self.input = input
        self.output = output
        self.cacheRead = cacheRead
        self.cacheWrite = cacheWrite
        self.costUsd = costUsd
    }
}

public struct UserMessage: Codable, Hashable, Sendable {
    public let role: String
    public let content: [UserMessageContentItem]
    public let attachments: [AttachmentRef]?
    public let from: String?
    public let via: UserMessageVia?
    public let timestamp: Int

    public init(
        role: String = "user",
        content: [UserMessageContentItem],
        attachments: [AttachmentRef]? = nil,
        from: String? = nil,
        via: UserMessageVia? = nil,
        timestamp: Int
    ) {
        self.role = role
        self.content = content
        self.attachments = attachments
        self.from = from
        self.via = via
        self.timestamp = timestamp
    }
}

public enum UserMessageContentItem: Codable, Hashable, Sendable {
    case text(TextBlock)
    case image(ImageBlock)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "text": self = .text(try TextBlock(from: decoder))
        case "image": self = .image(try ImageBlock(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let frame): try frame.encode(to: encoder)
        case .image(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public enum UserMessageVia: RawRepresentable, Codable, Hashable, Sendable {
    case plugin
    case schedule
    case heartbeat
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UserMessageVia] = [.plugin, .schedule, .heartbeat]

    public init(rawValue: String) {
        switch rawValue {
        case "plugin": self = .plugin
        case "schedule": self = .schedule
        case "heartbeat": self = .heartbeat
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .plugin: return "plugin"
        case .schedule: return "schedule"
        case .heartbeat: return "heartbeat"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum ErrorCode: RawRepresentable, Codable, Hashable, Sendable {
    case parse
    case invalidRequest
    case unknownMethod
    case protocolMismatch
    case unauthorized
    case notPaired
    case scope
    case forbiddenOrigin
    case notFound
    case conflict
    case gone
    case idempotencyConflict
    case tooLarge
    case rateLimited
    case unavailable
    case plugin
    case storage
    case internal_
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ErrorCode] = [.parse, .invalidRequest, .unknownMethod, .protocolMismatch, .unauthorized, .notPaired, .scope, .forbiddenOrigin, .notFound, .conflict, .gone, .idempotencyConflict, .tooLarge, .rateLimited, .unavailable, .plugin, .storage, .internal_]

    public init(rawValue: String) {
        switch rawValue {
        case "PARSE": self = .parse
        case "INVALID_REQUEST": self = .invalidRequest
        case "UNKNOWN_METHOD": self = .unknownMethod
        case "PROTOCOL_MISMATCH": self = .protocolMismatch
        case "UNAUTHORIZED": self = .unauthorized
        case "NOT_PAIRED": self = .notPaired
        case "SCOPE": self = .scope
        case "FORBIDDEN_ORIGIN": self = .forbiddenOrigin
        case "NOT_FOUND": self = .notFound
        case "CONFLICT": self = .conflict
        case "GONE": self = .gone
        case "IDEMPOTENCY_CONFLICT": self = .idempotencyConflict
        case "TOO_LARGE": self = .tooLarge
        case "RATE_LIMITED": self = .rateLimited
        case "UNAVAILABLE": self = .unavailable
        case "PLUGIN": self = .plugin
        case "STORAGE": self = .storage
        case "INTERNAL": self = .internal_
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .parse: return "PARSE"
        case .invalidRequest: return "INVALID_REQUEST"
        case .unknownMethod: return "UNKNOWN_METHOD"
        case .protocolMismatch: return "PROTOCOL_MISMATCH"
        case .unauthorized: return "UNAUTHORIZED"
        case .notPaired: return "NOT_PAIRED"
        case .scope: return "SCOPE"
        case .forbiddenOrigin: return "FORBIDDEN_ORIGIN"
        case .notFound: return "NOT_FOUND"
        case .conflict: return "CONFLICT"
        case .gone: return "GONE"
        case .idempotencyConflict: return "IDEMPOTENCY_CONFLICT"
        case .tooLarge: return "TOO_LARGE"
        case .rateLimited: return "RATE_LIMITED"
        case .unavailable: return "UNAVAILABLE"
        case .plugin: return "PLUGIN"
        case .storage: return "STORAGE"
        case .internal_: return "INTERNAL"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum Scope: RawRepresentable, Codable, Hashable, Sendable {
    case operatorRead
    case operatorWrite
    case operatorApprovals
    case operatorPairing
    case operatorAdmin
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [Scope] = [.operatorRead, .operatorWrite, .operatorApprovals, .operatorPairing, .operatorAdmin]

    public init(rawValue: String) {
        switch rawValue {
        case "operator.read": self = .operatorRead
        case "operator.write": self = .operatorWrite
        case "operator.approvals": self = .operatorApprovals
        case "operator.pairing": self = .operatorPairing
        case "operator.admin": self = .operatorAdmin
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .operatorRead: return "operator.read"
        case .operatorWrite: return "operator.write"
        case .operatorApprovals: return "operator.approvals"
        case .operatorPairing: return "operator.pairing"
        case .operatorAdmin: return "operator.admin"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `health`: Is the gateway well?
public struct HealthParams: Codable, Hashable, Sendable {
    public init() {}
}

public typealias HealthResult = Health

/// `status`: What the gateway is and how it does.
public struct StatusParams: Codable, Hashable, Sendable {
    public init() {}
}

public typealias StatusResult = Status

/// `system.echo`: Say the text back.
public struct SystemEchoParams: Codable, Hashable, Sendable {
    public let text: String

    public init(
        text: String
    ) {
        self.text = text
    }
}

public struct SystemEchoResult: Codable, Hashable, Sendable {
    public let ok: Bool
    public let text: String

    public init(
        ok: Bool,
        text: String
    ) {
        self.ok = ok
        self.text = text
    }
}

/// `presence.list`: Who is connected.
public struct PresenceListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct PresenceListResult: Codable, Hashable, Sendable {
    public let presence: [PresenceEntry]

    public init(
        presence: [PresenceEntry]
    ) {
        self.presence = presence
    }
}

/// `events.subscribe`: Receive these events on this connection. A connection starts with all that its scopes allow.
public struct EventsSubscribeParams: Codable, Hashable, Sendable {
    public let events: [String]

    public init(
        events: [String]
    ) {
        self.events = events
    }
}

public struct EventsSubscribeResult: Codable, Hashable, Sendable {
    public let events: [String]

    public init(
        events: [String]
    ) {
        self.events = events
    }
}

/// `events.unsubscribe`: Receive these events no longer on this connection.
public struct EventsUnsubscribeParams: Codable, Hashable, Sendable {
    public let events: [String]

    public init(
        events: [String]
    ) {
        self.events = events
    }
}

public struct EventsUnsubscribeResult: Codable, Hashable, Sendable {
    public let events: [String]

    public init(
        events: [String]
    ) {
        self.events = events
    }
}

/// `config.get`: Read the settings with where each comes from. Secrets are redacted.
public struct ConfigGetParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct ConfigGetResult: Codable, Hashable, Sendable {
    public let file: String
    public let settings: [String: ConfigGetResultSettingsValue]
    public let restartNeeded: [String]

    public init(
        file: String,
        settings: [String: ConfigGetResultSettingsValue],
        restartNeeded: [String]
    ) {
        self.file = file
        self.settings = settings
        self.restartNeeded = restartNeeded
    }
}

public struct ConfigGetResultSettingsValue: Codable, Hashable, Sendable {
    public let value: JsonValue
    public let source: ConfigGetResultSettingsValueSource
    public let takesEffect: ConfigGetResultSettingsValueTakesEffect
    public let summary: String

    public init(
        value: JsonValue,
        source: ConfigGetResultSettingsValueSource,
        takesEffect: ConfigGetResultSettingsValueTakesEffect,
        summary: String
    ) {
        self.value = value
        self.source = source
        self.takesEffect = takesEffect
        self.summary = summary
    }
}

public enum ConfigGetResultSettingsValueSource: RawRepresentable, Codable, Hashable, Sendable {
    case default_
    case file
    case environment
    case flag
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ConfigGetResultSettingsValueSource] = [.default_, .file, .environment, .flag]

    public init(rawValue: String) {
        switch rawValue {
        case "default": self = .default_
        case "file": self = .file
        case "environment": self = .environment
        case "flag": self = .flag
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .default_: return "default"
        case .file: return "file"
        case .environment: return "environment"
        case .flag: return "flag"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum ConfigGetResultSettingsValueTakesEffect: RawRepresentable, Codable, Hashable, Sendable {
    case now
    case restart
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ConfigGetResultSettingsValueTakesEffect] = [.now, .restart]

    public init(rawValue: String) {
        switch rawValue {
        case "now": self = .now
        case "restart": self = .restart
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .now: return "now"
        case .restart: return "restart"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `config.patch`: Change settings in tenon.toml; null returns one to its default. Checked whole before anything is written.
public struct ConfigPatchParams: Codable, Hashable, Sendable {
    public let set: JsonObject
    public let idempotencyKey: String?

    public init(
        set: JsonObject,
        idempotencyKey: String? = nil
    ) {
        self.set = set
        self.idempotencyKey = idempotencyKey
    }
}

public struct ConfigPatchResult: Codable, Hashable, Sendable {
    public let file: String
    public let settings: [String: ConfigPatchResultSettingsValue]
    public let restartNeeded: [String]

    public init(
        file: String,
        settings: [String: ConfigPatchResultSettingsValue],
        restartNeeded: [String]
    ) {
        self.file = file
        self.settings = settings
        self.restartNeeded = restartNeeded
    }
}

public struct ConfigPatchResultSettingsValue: Codable, Hashable, Sendable {
    public let value: JsonValue
    public let source: ConfigPatchResultSettingsValueSource
    public let takesEffect: ConfigPatchResultSettingsValueTakesEffect
    public let summary: String

    public init(
        value: JsonValue,
        source: ConfigPatchResultSettingsValueSource,
        takesEffect: ConfigPatchResultSettingsValueTakesEffect,
        summary: String
    ) {
        self.value = value
        self.source = source
        self.takesEffect = takesEffect
        self.summary = summary
    }
}

public enum ConfigPatchResultSettingsValueSource: RawRepresentable, Codable, Hashable, Sendable {
    case default_
    case file
    case environment
    case flag
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ConfigPatchResultSettingsValueSource] = [.default_, .file, .environment, .flag]

    public init(rawValue: String) {
        switch rawValue {
        case "default": self = .default_
        case "file": self = .file
        case "environment": self = .environment
        case "flag": self = .flag
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .default_: return "default"
        case .file: return "file"
        case .environment: return "environment"
        case .flag: return "flag"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum ConfigPatchResultSettingsValueTakesEffect: RawRepresentable, Codable, Hashable, Sendable {
    case now
    case restart
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ConfigPatchResultSettingsValueTakesEffect] = [.now, .restart]

    public init(rawValue: String) {
        switch rawValue {
        case "now": self = .now
        case "restart": self = .restart
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .now: return "now"
        case .restart: return "restart"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `logs.tail`: Read log records after a cursor, oldest first.
public struct LogsTailParams: Codable, Hashable, Sendable {
    public let after: Int?
    public let limit: Int?
    public let level: LogLevel?

    public init(
        after: Int? = nil,
        limit: Int? = nil,
        level: LogLevel? = nil
    ) {
        self.after = after
        self.limit = limit
        self.level = level
    }
}

public struct LogsTailResult: Codable, Hashable, Sendable {
    public let records: [LogRecord]
    public let cursor: Int
    public let dropped: Int

    public init(
        records: [LogRecord],
        cursor: Int,
        dropped: Int
    ) {
        self.records = records
        self.cursor = cursor
        self.dropped = dropped
    }
}

/// `audit.list`: Read audit records, newest first, with the state of their hash chain.
public struct AuditListParams: Codable, Hashable, Sendable {
    public let before: Int?
    public let limit: Int?

    public init(
        before: Int? = nil,
        limit: Int? = nil
    ) {
        self.before = before
        self.limit = limit
    }
}

public struct AuditListResult: Codable, Hashable, Sendable {
    public let records: [AuditRecord]
    public let chain: AuditListResultChain

    public init(
        records: [AuditRecord],
        chain: AuditListResultChain
    ) {
        self.records = records
        self.chain = chain
    }
}

public struct AuditListResultChain: Codable, Hashable, Sendable {
    public let ok: Bool
    public let checked: Int
    public let reason: String?

    public init(
        ok: Bool,
        checked: Int,
        reason: String? = nil
    ) {
        self.ok = ok
        self.checked = checked
        self.reason = reason
    }
}

/// `doctor.run`: Check the installation; with `fix`, mend what can be mended safely.
public struct DoctorRunParams: Codable, Hashable, Sendable {
    public let fix: Bool?
    public let idempotencyKey: String?

    public init(
        fix: Bool? = nil,
        idempotencyKey: String? = nil
    ) {
        self.fix = fix
        self.idempotencyKey = idempotencyKey
    }
}

public struct DoctorRunResult: Codable, Hashable, Sendable {
    public let ok: Bool
    public let findings: [Finding]

    public init(
        ok: Bool,
        findings: [Finding]
    ) {
        self.ok = ok
        self.findings = findings
    }
}

/// `gateway.shutdown`: Drain and stop the gateway.
public struct GatewayShutdownParams: Codable, Hashable, Sendable {
    public let reason: String?
    public let idempotencyKey: String?

    public init(
        reason: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.reason = reason
        self.idempotencyKey = idempotencyKey
    }
}

public struct GatewayShutdownResult: Codable, Hashable, Sendable {
    public let stopping: Bool

    public init(
        stopping: Bool = true
    ) {
        self.stopping = stopping
    }
}

/// `sessions.list`: List sessions, latest change first, a page at a time; with `search`, newest first.
public struct SessionsListParams: Codable, Hashable, Sendable {
    public let limit: Int?
    public let cursor: String?
    public let agentId: OwnerId?
    public let label: String?
    public let archived: Bool?
    public let search: String?

    public init(
        limit: Int? = nil,
        cursor: String? = nil,
        agentId: OwnerId? = nil,
        label: String? = nil,
        archived: Bool? = nil,
        search: String? = nil
    ) {
        self.limit = limit
        self.cursor = cursor
        self.agentId = agentId
        self.label = label
        self.archived = archived
        self.search = search
    }
}

public struct SessionsListResult: Codable, Hashable, Sendable {
    public let sessions: [Session]
    public let nextCursor: String?

    public init(
        sessions: [Session],
        nextCursor: String? = nil
    ) {
        self.sessions = sessions
        self.nextCursor = nextCursor
    }
}

/// `sessions.get`: Read one session.
public struct SessionsGetParams: Codable, Hashable, Sendable {
    public let key: SessionKey

    public init(
        key: SessionKey
    ) {
        self.key = key
    }
}

public struct SessionsGetResult: Codable, Hashable, Sendable {
    public let session: Session

    public init(
        session: Session
    ) {
        self.session = session
    }
}

/// `sessions.create`: Create a session. Without a key, a random one under the agent.
public struct SessionsCreateParams: Codable, Hashable, Sendable {
    public let key: SessionKey?
    public let agentId: OwnerId?
    public let title: String?
    public let label: Nullable<String>?
    public let pinned: Bool?
    public let archived: Bool?
    public let model: Nullable<ModelId>?
    public let thinking: Nullable<ThinkingLevel>?
    public let permissions: Nullable<PermissionMode>?
    public let queue: Nullable<QueueMode>?
    public let idempotencyKey: String?

    public init(
        key: SessionKey? = nil,
        agentId: OwnerId? = nil,
        title: String? = nil,
        label: Nullable<String>? = nil,
        pinned: Bool? = nil,
        archived: Bool? = nil,
        model: Nullable<ModelId>? = nil,
        thinking: Nullable<ThinkingLevel>? = nil,
        permissions: Nullable<PermissionMode>? = nil,
        queue: Nullable<QueueMode>? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.agentId = agentId
        self.title = title
        self.label = label
        self.pinned = pinned
        self.archived = archived
        self.model = model
        self.thinking = thinking
        self.permissions = permissions
        self.queue = queue
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsCreateResult: Codable, Hashable, Sendable {
    public let session: Session

    public init(
        session: Session
    ) {
        self.session = session
    }
}

/// `sessions.patch`: Change fields of a session; with `ifRevision`, only if nobody changed it meanwhile; with `extension`, together with what a plugin does: all of it or nothing.
public struct SessionsPatchParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let title: String?
    public let label: Nullable<String>?
    public let pinned: Bool?
    public let archived: Bool?
    public let model: Nullable<ModelId>?
    public let thinking: Nullable<ThinkingLevel>?
    public let permissions: Nullable<PermissionMode>?
    public let queue: Nullable<QueueMode>?
    public let ifRevision: Int?
    public let extension_: SessionsPatchParamsExtension?
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        title: String? = nil,
        label: Nullable<String>? = nil,
        pinned: Bool? = nil,
        archived: Bool? = nil,
        model: Nullable<ModelId>? = nil,
        thinking: Nullable<ThinkingLevel>? = nil,
        permissions: Nullable<PermissionMode>? = nil,
        queue: Nullable<QueueMode>? = nil,
        ifRevision: Int? = nil,
        extension_: SessionsPatchParamsExtension? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.title = title
        self.label = label
        self.pinned = pinned
        self.archived = archived
        self.model = model
        self.thinking = thinking
        self.permissions = permissions
        self.queue = queue
        self.ifRevision = ifRevision
        self.extension_ = extension_
        self.idempotencyKey = idempotencyKey
    }

    enum CodingKeys: String, CodingKey {
        case key = "key"
        case title = "title"
        case label = "label"
        case pinned = "pinned"
        case archived = "archived"
        case model = "model"
        case thinking = "thinking"
        case permissions = "permissions"
        case queue = "queue"
        case ifRevision = "ifRevision"
        case extension_ = "extension"
        case idempotencyKey = "idempotencyKey"
    }
}

public struct SessionsPatchParamsExtension: Codable, Hashable, Sendable {
    public let plugin: OwnerId
    public let action: ItemName
    public let payload: JsonValue?

    public init(
        plugin: OwnerId,
        action: ItemName,
        payload: JsonValue? = nil
    ) {
        self.plugin = plugin
        self.action = action
        self.payload = payload
    }
}

public struct SessionsPatchResult: Codable, Hashable, Sendable {
    public let session: Session
    public let runId: String?

    public init(
        session: Session,
        runId: String? = nil
    ) {
        self.session = session
        self.runId = runId
    }
}

/// `sessions.injections`: What plugins want told with the next turn of a session, in the order in which it is told; `pendingInjections` counts those that no turn has taken.
public struct SessionsInjectionsParams: Codable, Hashable, Sendable {
    public let key: SessionKey

    public init(
        key: SessionKey
    ) {
        self.key = key
    }
}

public struct SessionsInjectionsResult: Codable, Hashable, Sendable {
    public let injections: [PendingInjection]

    public init(
        injections: [PendingInjection]
    ) {
        self.injections = injections
    }
}

/// `sessions.reset`: Start the session afresh: a new session id, the same key and settings.
public struct SessionsResetParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsResetResult: Codable, Hashable, Sendable {
    public let session: Session

    public init(
        session: Session
    ) {
        self.session = session
    }
}

/// `sessions.delete`: Delete a session and all that belongs to it.
public struct SessionsDeleteParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsDeleteResult: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let deleted: Bool

    public init(
        key: SessionKey,
        deleted: Bool = true
    ) {
        self.key = key
        self.deleted = deleted
    }
}

/// `sessions.tree`: All entries of a session as a tree, without their content, a page at a time in the order in which they were added.
public struct SessionsTreeParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let after: Int?
    public let limit: Int?

    public init(
        key: SessionKey,
        after: Int? = nil,
        limit: Int? = nil
    ) {
        self.key = key
        self.after = after
        self.limit = limit
    }
}

public struct SessionsTreeResult: Codable, Hashable, Sendable {
    public let nodes: [TreeNode]
    public let leafId: Nullable<String>
    public let next: Int?

    public init(
        nodes: [TreeNode],
        leafId: Nullable<String>,
        next: Int? = nil
    ) {
        self.nodes = nodes
        self.leafId = leafId
        self.next = next
    }
}

/// `sessions.branch`: Go on from another entry of the tree; with `summarize`, what is left behind is summed up for the agent.
public struct SessionsBranchParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let entryId: Nullable<String>
    public let summarize: Bool?
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        entryId: Nullable<String>,
        summarize: Bool? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.entryId = entryId
        self.summarize = summarize
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsBranchResult: Codable, Hashable, Sendable {
    public let leafId: Nullable<String>
    public let text: String?

    public init(
        leafId: Nullable<String>,
        text: String? = nil
    ) {
        self.leafId = leafId
        self.text = text
    }
}

/// `sessions.rewind`: Go back to before a message of the user: before the last one, before the last `turns`, or before `entryId`. `text` is what it said.
public struct SessionsRewindParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let turns: Int?
    public let entryId: String?
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        turns: Int? = nil,
        entryId: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.turns = turns
        self.entryId = entryId
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsRewindResult: Codable, Hashable, Sendable {
    public let leafId: Nullable<String>
    public let text: String?

    public init(
        leafId: Nullable<String>,
        text: String? = nil
    ) {
        self.leafId = leafId
        self.text = text
    }
}

/// `sessions.fork`: Make a new session from the path to an entry, or to the leaf.
public struct SessionsForkParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let newKey: SessionKey?
    public let entryId: String?
    public let title: String?
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        newKey: SessionKey? = nil,
        entryId: String? = nil,
        title: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.newKey = newKey
        self.entryId = entryId
        self.title = title
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsForkResult: Codable, Hashable, Sendable {
    public let session: Session
    public let entries: Int

    public init(
        session: Session,
        entries: Int
    ) {
        self.session = session
        self.entries = entries
    }
}

/// `sessions.label`: Put a label on an entry, or take it away with null.
public struct SessionsLabelParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let entryId: String
    public let label: Nullable<String>
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        entryId: String,
        label: Nullable<String>,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.entryId = entryId
        self.label = label
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsLabelResult: Codable, Hashable, Sendable {
    public let entry: Entry

    public init(
        entry: Entry
    ) {
        self.entry = entry
    }
}

/// `sessions.contextEdit`: Tell the agent something else in place of an entry from now on, or leave it out with null. The entry itself stays.
public struct SessionsContextEditParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let entryId: String
    public let replacement: Nullable<[SessionsContextEditParamsReplacementItem]>
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        entryId: String,
        replacement: Nullable<[SessionsContextEditParamsReplacementItem]>,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.entryId = entryId
        self.replacement = replacement
        self.idempotencyKey = idempotencyKey
    }
}

public enum SessionsContextEditParamsReplacementItem: Codable, Hashable, Sendable {
    case text(TextBlock)
    case image(ImageBlock)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "text": self = .text(try TextBlock(from: decoder))
        case "image": self = .image(try ImageBlock(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let frame): try frame.encode(to: encoder)
        case .image(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public struct SessionsContextEditResult: Codable, Hashable, Sendable {
    public let entry: Entry

    public init(
        entry: Entry
    ) {
        self.entry = entry
    }
}

/// `sessions.compact`: Sum up the older messages of a session now.
public struct SessionsCompactParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let instructions: String?
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        instructions: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.instructions = instructions
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsCompactResult: Codable, Hashable, Sendable {
    public let compacted: Bool
    public let reason: String?
    public let entry: Entry?
    public let tokensBefore: Int?

    public init(
        compacted: Bool,
        reason: String? = nil,
        entry: Entry? = nil,
        tokensBefore: Int? = nil
    ) {
        self.compacted = compacted
        self.reason = reason
        self.entry = entry
        self.tokensBefore = tokensBefore
    }
}

/// `sessions.export`: The session as lines of JSON, version 3 of pi, a page at a time.
public struct SessionsExportParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let after: Int?

    public init(
        key: SessionKey,
        after: Int? = nil
    ) {
        self.key = key
        self.after = after
    }
}

public struct SessionsExportResult: Codable, Hashable, Sendable {
    public let lines: [String]
    public let next: Int?

    public init(
        lines: [String],
        next: Int? = nil
    ) {
        self.lines = lines
        self.next = next
    }
}

/// `sessions.import`: Make a session from lines of JSON, version 3 of pi. All of it is checked before anything is written. Larger ones: POST /api/sessions/import.
public struct SessionsImportParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let jsonl: String
    public let title: String?
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        jsonl: String,
        title: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.jsonl = jsonl
        self.title = title
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsImportResult: Codable, Hashable, Sendable {
    public let session: Session
    public let entries: Int
    public let skipped: Int

    public init(
        session: Session,
        entries: Int,
        skipped: Int
    ) {
        self.session = session
        self.entries = entries
        self.skipped = skipped
    }
}

/// `chat.send`: Say something to the agent of a session. The idempotency key is the id of the run. A text that is a slash command is carried out instead.
public struct ChatSendParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let message: String
    public let images: [ImageBlock]?
    public let attachments: [AttachmentHandle]?
    public let model: ModelId?
    public let thinking: ThinkingLevel?
    public let mode: QueueMode?
    public let override: Bool?
    public let idempotencyKey: String

    public init(
        sessionKey: SessionKey,
        message: String,
        images: [ImageBlock]? = nil,
        attachments: [AttachmentHandle]? = nil,
        model: ModelId? = nil,
        thinking: ThinkingLevel? = nil,
        mode: QueueMode? = nil,
        override: Bool? = nil,
        idempotencyKey: String
    ) {
        self.sessionKey = sessionKey
        self.message = message
        self.images = images
        self.attachments = attachments
        self.model = model
        self.thinking = thinking
        self.mode = mode
        self.override = override
        self.idempotencyKey = idempotencyKey
    }
}

public struct ChatSendResult: Codable, Hashable, Sendable {
    public let runId: String
    public let sessionKey: SessionKey
    public let status: ChatSendResultStatus
    public let reply: String?

    public init(
        runId: String,
        sessionKey: SessionKey,
        status: ChatSendResultStatus,
        reply: String? = nil
    ) {
        self.runId = runId
        self.sessionKey = sessionKey
        self.status = status
        self.reply = reply
    }
}

public enum ChatSendResultStatus: RawRepresentable, Codable, Hashable, Sendable {
    case started
    case queued
    case handled
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ChatSendResultStatus] = [.started, .queued, .handled]

    public init(rawValue: String) {
        switch rawValue {
        case "started": self = .started
        case "queued": self = .queued
        case "handled": self = .handled
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .started: return "started"
        case .queued: return "queued"
        case .handled: return "handled"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `chat.history`: The messages on the path to the leaf, oldest first, the latest page first.
public struct ChatHistoryParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let limit: Int?
    public let before: String?

    public init(
        sessionKey: SessionKey,
        limit: Int? = nil,
        before: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.limit = limit
        self.before = before
    }
}

public struct ChatHistoryResult: Codable, Hashable, Sendable {
    public let session: Session
    public let entries: [Entry]
    public let more: String?
    public let leafId: Nullable<String>
    public let runs: [ChatHistoryResultRunsItem]

    public init(
        session: Session,
        entries: [Entry],
        more: String? = nil,
        leafId: Nullable<String>,
        runs: [ChatHistoryResultRunsItem]
    ) {
        self.session = session
        self.entries = entries
        self.more = more
        self.leafId = leafId
        self.runs = runs
    }
}

public struct ChatHistoryResultRunsItem: Codable, Hashable, Sendable {
    public let run: Run
    public let text: String?

    public init(
        run: Run,
        text: String? = nil
    ) {
        self.run = run
        self.text = text
    }
}

/// `chat.abort`: Stop the running turn of a session, or one run, running or queued.
public struct ChatAbortParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let runId: String?
    public let idempotencyKey: String?

    public init(
        sessionKey: SessionKey,
        runId: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.runId = runId
        self.idempotencyKey = idempotencyKey
    }
}

public struct ChatAbortResult: Codable, Hashable, Sendable {
    public let aborted: [String]

    public init(
        aborted: [String]
    ) {
        self.aborted = aborted
    }
}

/// `chat.inject`: Add a note to the transcript that the agent is told with its next turn; no turn is started.
public struct ChatInjectParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let message: String
    public let label: String?
    public let idempotencyKey: String?

    public init(
        sessionKey: SessionKey,
        message: String,
        label: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.message = message
        self.label = label
        self.idempotencyKey = idempotencyKey
    }
}

public struct ChatInjectResult: Codable, Hashable, Sendable {
    public let entry: Entry

    public init(
        entry: Entry
    ) {
        self.entry = entry
    }
}

/// `agent`: Run a turn of an agent: like `chat.send`, but without slash commands, and the session may be left out for a fresh one.
public struct AgentParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey?
    public let agentId: OwnerId?
    public let message: String
    public let images: [ImageBlock]?
    public let attachments: [AttachmentHandle]?
    public let model: ModelId?
    public let thinking: ThinkingLevel?
    public let mode: QueueMode?
    public let override: Bool?
    public let extraSystemPrompt: String?
    public let trigger: AgentParamsTrigger?
    public let idempotencyKey: String

    public init(
        sessionKey: SessionKey? = nil,
        agentId: OwnerId? = nil,
        message: String,
        images: [ImageBlock]? = nil,
        attachments: [AttachmentHandle]? = nil,
        model: ModelId? = nil,
        thinking: ThinkingLevel? = nil,
        mode: QueueMode? = nil,
        override: Bool? = nil,
        extraSystemPrompt: String? = nil,
        trigger: AgentParamsTrigger? = nil,
        idempotencyKey: String
    ) {
        self.sessionKey = sessionKey
        self.agentId = agentId
        self.message = message
        self.images = images
        self.attachments = attachments
        self.model = model
        self.thinking = thinking
        self.mode = mode
        self.override = override
        self.extraSystemPrompt = extraSystemPrompt
        self.trigger = trigger
        self.idempotencyKey = idempotencyKey
    }
}

public enum AgentParamsTrigger: RawRepresentable, Codable, Hashable, Sendable {
    case api
    case heartbeat
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [AgentParamsTrigger] = [.api, .heartbeat]

    public init(rawValue: String) {
        switch rawValue {
        case "api": self = .api
        case "heartbeat": self = .heartbeat
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .api: return "api"
        case .heartbeat: return "heartbeat"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct AgentResult: Codable, Hashable, Sendable {
    public let runId: String
    public let sessionKey: SessionKey
    public let status: AgentResultStatus

    public init(
        runId: String,
        sessionKey: SessionKey,
        status: AgentResultStatus
    ) {
        self.runId = runId
        self.sessionKey = sessionKey
        self.status = status
    }
}

public enum AgentResultStatus: RawRepresentable, Codable, Hashable, Sendable {
    case started
    case queued
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [AgentResultStatus] = [.started, .queued]

    public init(rawValue: String) {
        switch rawValue {
        case "started": self = .started
        case "queued": self = .queued
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .started: return "started"
        case .queued: return "queued"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `agent.wait`: Wait until a run has ended, or the time is over; `text` is what the agent said last.
public struct AgentWaitParams: Codable, Hashable, Sendable {
    public let runId: String
    public let timeoutMs: Int?

    public init(
        runId: String,
        timeoutMs: Int? = nil
    ) {
        self.runId = runId
        self.timeoutMs = timeoutMs
    }
}

public struct AgentWaitResult: Codable, Hashable, Sendable {
    public let run: Run
    public let end: RunEnd?
    public let text: String?

    public init(
        run: Run,
        end: RunEnd? = nil,
        text: String? = nil
    ) {
        self.run = run
        self.end = end
        self.text = text
    }
}

/// `agents.list`: The configured agents.
public struct AgentsListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct AgentsListResult: Codable, Hashable, Sendable {
    public let agents: [AgentInfo]

    public init(
        agents: [AgentInfo]
    ) {
        self.agents = agents
    }
}

/// `models.list`: The models that can be used, and why one cannot.
public struct ModelsListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct ModelsListResult: Codable, Hashable, Sendable {
    public let models: [ModelInfo]
    public let fallbacks: [ModelId]

    public init(
        models: [ModelInfo],
        fallbacks: [ModelId]
    ) {
        self.models = models
        self.fallbacks = fallbacks
    }
}

/// `models.probe`: Ask a model for one word, to see whether it answers.
public struct ModelsProbeParams: Codable, Hashable, Sendable {
    public let id: ModelId

    public init(
        id: ModelId
    ) {
        self.id = id
    }
}

public struct ModelsProbeResult: Codable, Hashable, Sendable {
    public let ok: Bool
    public let latencyMs: Double
    public let code: String?
    public let reason: String?

    public init(
        ok: Bool,
        latencyMs: Double,
        code: String? = nil,
        reason: String? = nil
    ) {
        self.ok = ok
        self.latencyMs = latencyMs
        self.code = code
        self.reason = reason
    }
}

/// `models.signIn`: Sign in at a provider of models that a plugin serves. What that gives is kept for the provider and told to nobody.
public struct ModelsSignInParams: Codable, Hashable, Sendable {
    public let provider: ModelId
    public let sessionKey: SessionKey?
    public let idempotencyKey: String?

    public init(
        provider: ModelId,
        sessionKey: SessionKey? = nil,
        idempotencyKey: String? = nil
    ) {
        self.provider = provider
        self.sessionKey = sessionKey
        self.idempotencyKey = idempotencyKey
    }
}

public struct ModelsSignInResult: Codable, Hashable, Sendable {
    public let provider: ModelId
    public let renewable: Bool
    public let expiresAt: Int?

    public init(
        provider: ModelId,
        renewable: Bool,
        expiresAt: Int? = nil
    ) {
        self.provider = provider
        self.renewable = renewable
        self.expiresAt = expiresAt
    }
}

/// `models.signOut`: Forget what a sign-in at a provider of models gave.
public struct ModelsSignOutParams: Codable, Hashable, Sendable {
    public let provider: ModelId
    public let idempotencyKey: String?

    public init(
        provider: ModelId,
        idempotencyKey: String? = nil
    ) {
        self.provider = provider
        self.idempotencyKey = idempotencyKey
    }
}

public struct ModelsSignOutResult: Codable, Hashable, Sendable {
    public let provider: ModelId
    public let signedOut: Bool

    public init(
        provider: ModelId,
        signedOut: Bool
    ) {
        self.provider = provider
        self.signedOut = signedOut
    }
}

/// `tools.catalog`: All tools, in groups.
public struct ToolsCatalogParams: Codable, Hashable, Sendable {
    public let agentId: OwnerId?

    public init(
        agentId: OwnerId? = nil
    ) {
        self.agentId = agentId
    }
}

public struct ToolsCatalogResult: Codable, Hashable, Sendable {
    public let agentId: OwnerId
    public let groups: [ToolsCatalogResultGroupsItem]
    public let sandbox: SandboxState

    public init(
        agentId: OwnerId,
        groups: [ToolsCatalogResultGroupsItem],
        sandbox: SandboxState
    ) {
        self.agentId = agentId
        self.groups = groups
        self.sandbox = sandbox
    }
}

public struct ToolsCatalogResultGroupsItem: Codable, Hashable, Sendable {
    public let id: String
    public let label: String
    public let source: ToolsCatalogResultGroupsItemSource
    public let pluginId: OwnerId?
    public let tools: [ToolInfo]

    public init(
        id: String,
        label: String,
        source: ToolsCatalogResultGroupsItemSource,
        pluginId: OwnerId? = nil,
        tools: [ToolInfo]
    ) {
        self.id = id
        self.label = label
        self.source = source
        self.pluginId = pluginId
        self.tools = tools
    }
}

public enum ToolsCatalogResultGroupsItemSource: RawRepresentable, Codable, Hashable, Sendable {
    case core
    case plugin
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ToolsCatalogResultGroupsItemSource] = [.core, .plugin]

    public init(rawValue: String) {
        switch rawValue {
        case "core": self = .core
        case "plugin": self = .plugin
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .core: return "core"
        case .plugin: return "plugin"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `tools.effective`: The tools that the agent of a session has now, and what happens when it calls them.
public struct ToolsEffectiveParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey

    public init(
        sessionKey: SessionKey
    ) {
        self.sessionKey = sessionKey
    }
}

public struct ToolsEffectiveResult: Codable, Hashable, Sendable {
    public let tools: [EffectiveTool]
    public let permissions: String
    public let sandbox: SandboxState

    public init(
        tools: [EffectiveTool],
        permissions: String,
        sandbox: SandboxState
    ) {
        self.tools = tools
        self.permissions = permissions
        self.sandbox = sandbox
    }
}

/// `commands.list`: The slash commands.
public struct CommandsListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct CommandsListResult: Codable, Hashable, Sendable {
    public let commands: [CommandInfo]

    public init(
        commands: [CommandInfo]
    ) {
        self.commands = commands
    }
}

/// `commands.complete`: What may be typed next after a slash, as whole lines.
public struct CommandsCompleteParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let text: String

    public init(
        sessionKey: SessionKey,
        text: String
    ) {
        self.sessionKey = sessionKey
        self.text = text
    }
}

public struct CommandsCompleteResult: Codable, Hashable, Sendable {
    public let completions: [CommandsCompleteResultCompletionsItem]

    public init(
        completions: [CommandsCompleteResultCompletionsItem]
    ) {
        self.completions = completions
    }
}

public struct CommandsCompleteResultCompletionsItem: Codable, Hashable, Sendable {
    public let text: String
    public let description: String?

    public init(
        text: String,
        description: String? = nil
    ) {
        self.text = text
        self.description = description
    }
}

/// `commands.invoke`: Carry out a slash command in a session.
public struct CommandsInvokeParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let text: String
    public let idempotencyKey: String?

    public init(
        sessionKey: SessionKey,
        text: String,
        idempotencyKey: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.text = text
        self.idempotencyKey = idempotencyKey
    }
}

public struct CommandsInvokeResult: Codable, Hashable, Sendable {
    public let reply: String
    public let sessionKey: SessionKey

    public init(
        reply: String,
        sessionKey: SessionKey
    ) {
        self.reply = reply
        self.sessionKey = sessionKey
    }
}

/// `usage.get`: Tokens and cost of a run, of a session, or of all; by model.
public struct UsageGetParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey?
    public let runId: String?
    public let since: Int?

    public init(
        sessionKey: SessionKey? = nil,
        runId: String? = nil,
        since: Int? = nil
    ) {
        self.sessionKey = sessionKey
        self.runId = runId
        self.since = since
    }
}

public struct UsageGetResult: Codable, Hashable, Sendable {
    public let total: UsageGetResultTotal
    public let byModel: [UsageGetResultByModelItem]

    public init(
        total: UsageGetResultTotal,
        byModel: [UsageGetResultByModelItem]
    ) {
        self.total = total
        self.byModel = byModel
    }
}

public struct UsageGetResultTotal: Codable, Hashable, Sendable {
    public let input: Int
    public let output: Int
    public let cacheRead: Int
    public let cacheWrite: Int
    public let costUsd: Double
    public let calls: Int

    public init(
        input: Int,
        output: Int,
        cacheRead: Int,
        cacheWrite: Int,
        costUsd: Double,
        calls: Int
    ) {
        self.input = input
        self.output = output
        self.cacheRead = cacheRead
        self.cacheWrite = cacheWrite
        self.costUsd = costUsd
        self.calls = calls
    }
}

public struct UsageGetResultByModelItem: Codable, Hashable, Sendable {
    public let model: String
    public let input: Int
    public let output: Int
    public let cacheRead: Int
    public let cacheWrite: Int
    public let costUsd: Double
    public let calls: Int

    public init(
        model: String,
        input: Int,
        output: Int,
        cacheRead: Int,
        cacheWrite: Int,
        costUsd: Double,
        calls: Int
    ) {
        self.model = model
        self.input = input
        self.output = output
        self.cacheRead = cacheRead
        self.cacheWrite = cacheWrite
        self.costUsd = costUsd
        self.calls = calls
    }
}

/// `approvals.list`: What waits for an answer, oldest first; or what was answered, newest first.
public struct ApprovalsListParams: Codable, Hashable, Sendable {
    public let state: ApprovalsListParamsState?
    public let sessionKey: SessionKey?
    public let limit: Int?
    public let cursor: String?

    public init(
        state: ApprovalsListParamsState? = nil,
        sessionKey: SessionKey? = nil,
        limit: Int? = nil,
        cursor: String? = nil
    ) {
        self.state = state
        self.sessionKey = sessionKey
        self.limit = limit
        self.cursor = cursor
    }
}

public enum ApprovalsListParamsState: RawRepresentable, Codable, Hashable, Sendable {
    case pending
    case decided
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ApprovalsListParamsState] = [.pending, .decided]

    public init(rawValue: String) {
        switch rawValue {
        case "pending": self = .pending
        case "decided": self = .decided
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .pending: return "pending"
        case .decided: return "decided"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct ApprovalsListResult: Codable, Hashable, Sendable {
    public let approvals: [Approval]
    public let nextCursor: String?

    public init(
        approvals: [Approval],
        nextCursor: String? = nil
    ) {
        self.approvals = approvals
        self.nextCursor = nextCursor
    }
}

/// `approvals.resolve`: Answer a question. The first answer counts.
public struct ApprovalsResolveParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let decision: Decision
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        decision: Decision,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.decision = decision
        self.idempotencyKey = idempotencyKey
    }
}

public struct ApprovalsResolveResult: Codable, Hashable, Sendable {
    public let approval: Approval

    public init(
        approval: Approval
    ) {
        self.approval = approval
    }
}

/// `approvals.rules`: What "always for exactly this" has allowed.
public struct ApprovalsRulesParams: Codable, Hashable, Sendable {
    public let limit: Int?
    public let cursor: String?

    public init(
        limit: Int? = nil,
        cursor: String? = nil
    ) {
        self.limit = limit
        self.cursor = cursor
    }
}

public struct ApprovalsRulesResult: Codable, Hashable, Sendable {
    public let rules: [ApprovalRule]
    public let nextCursor: String?

    public init(
        rules: [ApprovalRule],
        nextCursor: String? = nil
    ) {
        self.rules = rules
        self.nextCursor = nextCursor
    }
}

/// `approvals.forget`: Take such a rule back: it asks again.
public struct ApprovalsForgetParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct ApprovalsForgetResult: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let forgotten: Bool

    public init(
        id: AttachmentHandle,
        forgotten: Bool = true
    ) {
        self.id = id
        self.forgotten = forgotten
    }
}

/// `tokens.create`: Make a token with at most the scopes of the caller. The secret is in this answer only.
public struct TokensCreateParams: Codable, Hashable, Sendable {
    public let name: String
    public let scopes: ScopeList
    public let sessionKey: SessionKey?
    public let expiresAt: Int?
    public let idempotencyKey: String?

    public init(
        name: String,
        scopes: ScopeList,
        sessionKey: SessionKey? = nil,
        expiresAt: Int? = nil,
        idempotencyKey: String? = nil
    ) {
        self.name = name
        self.scopes = scopes
        self.sessionKey = sessionKey
        self.expiresAt = expiresAt
        self.idempotencyKey = idempotencyKey
    }
}

public struct TokensCreateResult: Codable, Hashable, Sendable {
    public let token: String
    public let record: Token

    public init(
        token: String,
        record: Token
    ) {
        self.token = token
        self.record = record
    }
}

/// `signin.create`: Make a code that signs one browser in, once and soon, with at most the scopes of the caller. `url` carries it.
public struct SigninCreateParams: Codable, Hashable, Sendable {
    public let scopes: ScopeList?
    public let idempotencyKey: String?

    public init(
        scopes: ScopeList? = nil,
        idempotencyKey: String? = nil
    ) {
        self.scopes = scopes
        self.idempotencyKey = idempotencyKey
    }
}

public struct SigninCreateResult: Codable, Hashable, Sendable {
    public let url: String
    public let expiresAt: Int

    public init(
        url: String,
        expiresAt: Int
    ) {
        self.url = url
        self.expiresAt = expiresAt
    }
}

/// `tokens.rotate`: Give a token a new secret; sockets that use the old one are closed.
public struct TokensRotateParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct TokensRotateResult: Codable, Hashable, Sendable {
    public let token: String
    public let record: Token

    public init(
        token: String,
        record: Token
    ) {
        self.token = token
        self.record = record
    }
}

/// `tokens.revoke`: Revoke a token and close every socket that uses it.
public struct TokensRevokeParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct TokensRevokeResult: Codable, Hashable, Sendable {
    public let record: Token

    public init(
        record: Token
    ) {
        self.record = record
    }
}

/// `tokens.list`: List tokens, newest first, without their secrets.
public struct TokensListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct TokensListResult: Codable, Hashable, Sendable {
    public let tokens: [Token]

    public init(
        tokens: [Token]
    ) {
        self.tokens = tokens
    }
}

/// `device.pair.list`: List the pairing requests that wait for an answer.
public struct DevicePairListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct DevicePairListResult: Codable, Hashable, Sendable {
    public let requests: [PairingRequest]

    public init(
        requests: [PairingRequest]
    ) {
        self.requests = requests
    }
}

/// `device.pair.approve`: Let a device in, with the scopes it asked for or fewer, never more than the caller holds.
public struct DevicePairApproveParams: Codable, Hashable, Sendable {
    public let requestId: AttachmentHandle
    public let scopes: ScopeList?
    public let name: String?
    public let idempotencyKey: String?

    public init(
        requestId: AttachmentHandle,
        scopes: ScopeList? = nil,
        name: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.requestId = requestId
        self.scopes = scopes
        self.name = name
        self.idempotencyKey = idempotencyKey
    }
}

public struct DevicePairApproveResult: Codable, Hashable, Sendable {
    public let device: Device

    public init(
        device: Device
    ) {
        self.device = device
    }
}

/// `device.pair.reject`: Turn a pairing request down.
public struct DevicePairRejectParams: Codable, Hashable, Sendable {
    public let requestId: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        requestId: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.requestId = requestId
        self.idempotencyKey = idempotencyKey
    }
}

public struct DevicePairRejectResult: Codable, Hashable, Sendable {
    public let requestId: AttachmentHandle
    public let rejected: Bool

    public init(
        requestId: AttachmentHandle,
        rejected: Bool = true
    ) {
        self.requestId = requestId
        self.rejected = rejected
    }
}

/// `device.list`: List paired devices, latest first.
public struct DeviceListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct DeviceListResult: Codable, Hashable, Sendable {
    public let devices: [Device]

    public init(
        devices: [Device]
    ) {
        self.devices = devices
    }
}

/// `device.rename`: Change the name of a device.
public struct DeviceRenameParams: Codable, Hashable, Sendable {
    public let id: String
    public let name: String
    public let idempotencyKey: String?

    public init(
        id: String,
        name: String,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.name = name
        self.idempotencyKey = idempotencyKey
    }
}

public struct DeviceRenameResult: Codable, Hashable, Sendable {
    public let device: Device

    public init(
        device: Device
    ) {
        self.device = device
    }
}

/// `device.revoke`: Revoke a device and close its sockets.
public struct DeviceRevokeParams: Codable, Hashable, Sendable {
    public let id: String
    public let idempotencyKey: String?

    public init(
        id: String,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct DeviceRevokeResult: Codable, Hashable, Sendable {
    public let device: Device

    public init(
        device: Device
    ) {
        self.device = device
    }
}

/// `plugins.list`: The plugins: what each was granted, what it registered, and what was not taken.
public struct PluginsListParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct PluginsListResult: Codable, Hashable, Sendable {
    public let plugins: [PluginInfo]
    public let generation: Int
    public let safe: Bool

    public init(
        plugins: [PluginInfo],
        generation: Int,
        safe: Bool
    ) {
        self.plugins = plugins
        self.generation = generation
        self.safe = safe
    }
}

/// `plugins.get`: One plugin, with its configuration; with `files`, also the digest of its files as they are now.
public struct PluginsGetParams: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let files: Bool?

    public init(
        id: OwnerId,
        files: Bool? = nil
    ) {
        self.id = id
        self.files = files
    }
}

public struct PluginsGetResult: Codable, Hashable, Sendable {
    public let plugin: PluginDetails

    public init(
        plugin: PluginDetails
    ) {
        self.plugin = plugin
    }
}

/// `plugins.changes`: What has changed about a plugin since its files were trusted: files, the grants that it asks for, and what its tools say. Of one that was never trusted, all of it is new.
public struct PluginsChangesParams: Codable, Hashable, Sendable {
    public let id: OwnerId

    public init(
        id: OwnerId
    ) {
        self.id = id
    }
}

public struct PluginsChangesResult: Codable, Hashable, Sendable {
    public let treeHash: String?
    public let trustedHash: String?
    public let acceptedAt: Int?
    public let acceptedBy: String?
    public let files: [PluginsChangesResultFilesItem]
    public let moreFiles: Int?
    public let filesUnknown: Bool?
    public let asked: [Grant]
    public let held: [Grant]
    public let grants: PluginsChangesResultGrants
    public let tools: [PluginsChangesResultToolsItem]

    public init(
        treeHash: String? = nil,
        trustedHash: String? = nil,
        acceptedAt: Int? = nil,
        acceptedBy: String? = nil,
        files: [PluginsChangesResultFilesItem],
        moreFiles: Int? = nil,
        filesUnknown: Bool? = nil,
        asked: [Grant],
        held: [Grant],
        grants: PluginsChangesResultGrants,
        tools: [PluginsChangesResultToolsItem]
    ) {
        self.treeHash = treeHash
        self.trustedHash = trustedHash
        self.acceptedAt = acceptedAt
        self.acceptedBy = acceptedBy
        self.files = files
        self.moreFiles = moreFiles
        self.filesUnknown = filesUnknown
        self.asked = asked
        self.held = held
        self.grants = grants
        self.tools = tools
    }
}

public struct PluginsChangesResultFilesItem: Codable, Hashable, Sendable {
    public let path: String
    public let change: PluginsChangesResultFilesItemChange

    public init(
        path: String,
        change: PluginsChangesResultFilesItemChange
    ) {
        self.path = path
        self.change = change
    }
}

public enum PluginsChangesResultFilesItemChange: RawRepresentable, Codable, Hashable, Sendable {
    case added
    case changed
    case removed
    case mode
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginsChangesResultFilesItemChange] = [.added, .changed, .removed, .mode]

    public init(rawValue: String) {
        switch rawValue {
        case "added": self = .added
        case "changed": self = .changed
        case "removed": self = .removed
        case "mode": self = .mode
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .added: return "added"
        case .changed: return "changed"
        case .removed: return "removed"
        case .mode: return "mode"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginsChangesResultGrants: Codable, Hashable, Sendable {
    public let added: [Grant]
    public let removed: [Grant]

    public init(
        added: [Grant],
        removed: [Grant]
    ) {
        self.added = added
        self.removed = removed
    }
}

public struct PluginsChangesResultToolsItem: Codable, Hashable, Sendable {
    public let name: String
    public let change: PluginsChangesResultToolsItemChange
    public let before: PluginsChangesResultToolsItemBefore?
    public let after: PluginsChangesResultToolsItemAfter?

    public init(
        name: String,
        change: PluginsChangesResultToolsItemChange,
        before: PluginsChangesResultToolsItemBefore? = nil,
        after: PluginsChangesResultToolsItemAfter? = nil
    ) {
        self.name = name
        self.change = change
        self.before = before
        self.after = after
    }
}

public enum PluginsChangesResultToolsItemChange: RawRepresentable, Codable, Hashable, Sendable {
    case added
    case changed
    case removed
    case same
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [PluginsChangesResultToolsItemChange] = [.added, .changed, .removed, .same]

    public init(rawValue: String) {
        switch rawValue {
        case "added": self = .added
        case "changed": self = .changed
        case "removed": self = .removed
        case "same": self = .same
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .added: return "added"
        case .changed: return "changed"
        case .removed: return "removed"
        case .same: return "same"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct PluginsChangesResultToolsItemBefore: Codable, Hashable, Sendable {
    public let description: String
    public let parameters: String
    public let risk: String

    public init(
        description: String,
        parameters: String,
        risk: String
    ) {
        self.description = description
        self.parameters = parameters
        self.risk = risk
    }
}

public struct PluginsChangesResultToolsItemAfter: Codable, Hashable, Sendable {
    public let description: String
    public let parameters: String
    public let risk: String

    public init(
        description: String,
        parameters: String,
        risk: String
    ) {
        self.description = description
        self.parameters = parameters
        self.risk = risk
    }
}

/// `plugins.logs`: The last lines of the log of an extension: its standard error, what it logged, and what became of its process. With `after`, only those that came since that `cursor`. A plugin inside the gateway has none: its lines are in the log of the gateway.
public struct PluginsLogsParams: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let after: Int?
    public let limit: Int?

    public init(
        id: OwnerId,
        after: Int? = nil,
        limit: Int? = nil
    ) {
        self.id = id
        self.after = after
        self.limit = limit
    }
}

public struct PluginsLogsResult: Codable, Hashable, Sendable {
    public let lines: [ExtensionLogLine]
    public let cursor: Int
    public let dropped: Int

    public init(
        lines: [ExtensionLogLine],
        cursor: Int,
        dropped: Int
    ) {
        self.lines = lines
        self.cursor = cursor
        self.dropped = dropped
    }
}

/// `plugins.enable`: Trust the files of a plugin as they are now and what its tools say, grant what its manifest asks for, or only `grants`, and load it. With `treeHash`, only if the files are still those that `plugins.get` gave it for.
public struct PluginsEnableParams: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let grants: [Grant]?
    public let treeHash: String?
    public let idempotencyKey: String?

    public init(
        id: OwnerId,
        grants: [Grant]? = nil,
        treeHash: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.grants = grants
        self.treeHash = treeHash
        self.idempotencyKey = idempotencyKey
    }
}

public struct PluginsEnableResult: Codable, Hashable, Sendable {
    public let plugin: PluginInfo

    public init(
        plugin: PluginInfo
    ) {
        self.plugin = plugin
    }
}

/// `plugins.disable`: Unload a plugin and keep it switched off; what it keeps in sessions is removed. With `forget`, also what it keeps for itself, its grants and its configuration.
public struct PluginsDisableParams: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let forget: Bool?
    public let idempotencyKey: String?

    public init(
        id: OwnerId,
        forget: Bool? = nil,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.forget = forget
        self.idempotencyKey = idempotencyKey
    }
}

public struct PluginsDisableResult: Codable, Hashable, Sendable {
    public let plugin: PluginInfo

    public init(
        plugin: PluginInfo
    ) {
        self.plugin = plugin
    }
}

/// `plugins.reload`: Load a plugin anew from its folder, or all of them.
public struct PluginsReloadParams: Codable, Hashable, Sendable {
    public let id: OwnerId?
    public let idempotencyKey: String?

    public init(
        id: OwnerId? = nil,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct PluginsReloadResult: Codable, Hashable, Sendable {
    public let plugins: [PluginInfo]
    public let generation: Int

    public init(
        plugins: [PluginInfo],
        generation: Int
    ) {
        self.plugins = plugins
        self.generation = generation
    }
}

/// `plugins.grant`: Let a plugin do something that its manifest asks for.
public struct PluginsGrantParams: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let grants: [Grant]
    public let idempotencyKey: String?

    public init(
        id: OwnerId,
        grants: [Grant],
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.grants = grants
        self.idempotencyKey = idempotencyKey
    }
}

public struct PluginsGrantResult: Codable, Hashable, Sendable {
    public let plugin: PluginInfo

    public init(
        plugin: PluginInfo
    ) {
        self.plugin = plugin
    }
}

/// `plugins.revoke`: Take such a right back. It holds at once.
public struct PluginsRevokeParams: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let grants: [Grant]
    public let idempotencyKey: String?

    public init(
        id: OwnerId,
        grants: [Grant],
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.grants = grants
        self.idempotencyKey = idempotencyKey
    }
}

public struct PluginsRevokeResult: Codable, Hashable, Sendable {
    public let plugin: PluginInfo

    public init(
        plugin: PluginInfo
    ) {
        self.plugin = plugin
    }
}

/// `plugins.config`: Set the configuration of a plugin, checked against the schema of its manifest, and load it anew; null takes it back.
public struct PluginsConfigParams: Codable, Hashable, Sendable {
    public let id: OwnerId
    public let config: Nullable<JsonObject>
    public let idempotencyKey: String?

    public init(
        id: OwnerId,
        config: Nullable<JsonObject>,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.config = config
        self.idempotencyKey = idempotencyKey
    }
}

public struct PluginsConfigResult: Codable, Hashable, Sendable {
    public let plugin: PluginDetails

    public init(
        plugin: PluginDetails
    ) {
        self.plugin = plugin
    }
}

/// `plugins.uiDescriptors`: The controls that plugins show, as far as this credential may use them.
public struct PluginsUiDescriptorsParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct PluginsUiDescriptorsResult: Codable, Hashable, Sendable {
    public let descriptors: [UiDescriptor]
    public let generation: Int

    public init(
        descriptors: [UiDescriptor],
        generation: Int
    ) {
        self.descriptors = descriptors
        self.generation = generation
    }
}

/// `plugins.sessionAction`: Ask a plugin to do something in a session: a button was pressed. Needs the scopes of the action, `operator.write` without any.
public struct PluginsSessionActionParams: Codable, Hashable, Sendable {
    public let pluginId: OwnerId
    public let actionId: ItemName
    public let sessionKey: SessionKey
    public let payload: JsonValue?
    public let idempotencyKey: String?

    public init(
        pluginId: OwnerId,
        actionId: ItemName,
        sessionKey: SessionKey,
        payload: JsonValue? = nil,
        idempotencyKey: String? = nil
    ) {
        self.pluginId = pluginId
        self.actionId = actionId
        self.sessionKey = sessionKey
        self.payload = payload
        self.idempotencyKey = idempotencyKey
    }
}

public typealias PluginsSessionActionResult = ActionAnswer

/// `plugins.interact`: Tell the plugin that a button belongs to that it was pressed. The same `callbackId` within five minutes is told once.
public struct PluginsInteractParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let channel: ChannelId?
    public let data: String
    public let callbackId: String?
    public let idempotencyKey: String?

    public init(
        sessionKey: SessionKey,
        channel: ChannelId? = nil,
        data: String,
        callbackId: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.channel = channel
        self.data = data
        self.callbackId = callbackId
        self.idempotencyKey = idempotencyKey
    }
}

public struct PluginsInteractResult: Codable, Hashable, Sendable {
    public let pluginId: OwnerId
    public let duplicate: Bool?
    public let text: String?

    public init(
        pluginId: OwnerId,
        duplicate: Bool? = nil,
        text: String? = nil
    ) {
        self.pluginId = pluginId
        self.duplicate = duplicate
        self.text = text
    }
}

/// `sessions.pluginPatch`: Set or remove what a plugin keeps in a session. The answer has it as it is kept.
public struct SessionsPluginPatchParams: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let pluginId: OwnerId
    public let namespace: ItemName
    public let value: JsonValue?
    public let unset: Bool?
    public let idempotencyKey: String?

    public init(
        key: SessionKey,
        pluginId: OwnerId,
        namespace: ItemName,
        value: JsonValue? = nil,
        unset: Bool? = nil,
        idempotencyKey: String? = nil
    ) {
        self.key = key
        self.pluginId = pluginId
        self.namespace = namespace
        self.value = value
        self.unset = unset
        self.idempotencyKey = idempotencyKey
    }
}

public struct SessionsPluginPatchResult: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let value: JsonValue?
    public let revision: Int

    public init(
        key: SessionKey,
        value: JsonValue? = nil,
        revision: Int
    ) {
        self.key = key
        self.value = value
        self.revision = revision
    }
}

/// `hooks.status`: Who takes part in which hook, in the order in which they are asked, with the time that each may take and how its calls went.
public struct HooksStatusParams: Codable, Hashable, Sendable {
    public init() {}
}

public struct HooksStatusResult: Codable, Hashable, Sendable {
    public let hooks: [HooksStatusResultHooksItem]

    public init(
        hooks: [HooksStatusResultHooksItem]
    ) {
        self.hooks = hooks
    }
}

public struct HooksStatusResultHooksItem: Codable, Hashable, Sendable {
    public let hook: String
    public let handlers: [HooksStatusResultHooksItemHandlersItem]

    public init(
        hook: String,
        handlers: [HooksStatusResultHooksItemHandlersItem]
    ) {
        self.hook = hook
        self.handlers = handlers
    }
}

public struct HooksStatusResultHooksItemHandlersItem: Codable, Hashable, Sendable {
    public let plugin: OwnerId
    public let priority: Int
    public let timeoutMs: Int
    public let calls: Int
    public let errors: Int
    public let timeouts: Int
    public let skipped: Int
    public let lastAt: Int?
    public let p50Ms: Double?
    public let p95Ms: Double?
    public let switchedOff: HooksStatusResultHooksItemHandlersItemSwitchedOff?

    public init(
        plugin: OwnerId,
        priority: Int,
        timeoutMs: Int,
        calls: Int,
        errors: Int,
        timeouts: Int,
        skipped: Int,
        lastAt: Int? = nil,
        p50Ms: Double? = nil,
        p95Ms: Double? = nil,
        switchedOff: HooksStatusResultHooksItemHandlersItemSwitchedOff? = nil
    ) {
        self.plugin = plugin
        self.priority = priority
        self.timeoutMs = timeoutMs
        self.calls = calls
        self.errors = errors
        self.timeouts = timeouts
        self.skipped = skipped
        self.lastAt = lastAt
        self.p50Ms = p50Ms
        self.p95Ms = p95Ms
        self.switchedOff = switchedOff
    }
}

public struct HooksStatusResultHooksItemHandlersItemSwitchedOff: Codable, Hashable, Sendable {
    public let at: Int
    public let reason: String

    public init(
        at: Int,
        reason: String
    ) {
        self.at = at
        self.reason = reason
    }
}

/// `hooks.trace.record`: Record what plugins do in a session: in the next `turns` turns, or until it is switched off, for an hour at most. Kept in memory only.
public struct HooksTraceRecordParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let turns: Int?
    public let off: Bool?
    public let idempotencyKey: String?

    public init(
        sessionKey: SessionKey,
        turns: Int? = nil,
        off: Bool? = nil,
        idempotencyKey: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.turns = turns
        self.off = off
        self.idempotencyKey = idempotencyKey
    }
}

public struct HooksTraceRecordResult: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let recording: Bool
    public let turnsLeft: Int?
    public let until: Int?
    public let seq: Int

    public init(
        sessionKey: SessionKey,
        recording: Bool,
        turnsLeft: Int? = nil,
        until: Int? = nil,
        seq: Int
    ) {
        self.sessionKey = sessionKey
        self.recording = recording
        self.turnsLeft = turnsLeft
        self.until = until
        self.seq = seq
    }
}

/// `hooks.trace`: What was recorded: which handler ran when, for how long, what it changed, what was refused and why. Oldest first.
public struct HooksTraceParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let runId: String?
    public let after: Int?
    public let limit: Int?

    public init(
        sessionKey: SessionKey,
        runId: String? = nil,
        after: Int? = nil,
        limit: Int? = nil
    ) {
        self.sessionKey = sessionKey
        self.runId = runId
        self.after = after
        self.limit = limit
    }
}

public struct HooksTraceResult: Codable, Hashable, Sendable {
    public let recording: Bool
    public let turnsLeft: Int?
    public let until: Int?
    public let records: [TraceRecord]
    public let dropped: Int
    public let next: Int?

    public init(
        recording: Bool,
        turnsLeft: Int? = nil,
        until: Int? = nil,
        records: [TraceRecord],
        dropped: Int,
        next: Int? = nil
    ) {
        self.recording = recording
        self.turnsLeft = turnsLeft
        self.until = until
        self.records = records
        self.dropped = dropped
        self.next = next
    }
}

/// `cron.list`: List jobs, newest first, a page at a time. Without `state`, those that are active or paused.
public struct CronListParams: Codable, Hashable, Sendable {
    public let limit: Int?
    public let cursor: String?
    public let state: CronListParamsState?
    public let sessionKey: SessionKey?
    public let owner: String?
    public let tag: JobTag?

    public init(
        limit: Int? = nil,
        cursor: String? = nil,
        state: CronListParamsState? = nil,
        sessionKey: SessionKey? = nil,
        owner: String? = nil,
        tag: JobTag? = nil
    ) {
        self.limit = limit
        self.cursor = cursor
        self.state = state
        self.sessionKey = sessionKey
        self.owner = owner
        self.tag = tag
    }
}

public enum CronListParamsState: RawRepresentable, Codable, Hashable, Sendable {
    case active
    case paused
    case finished
    case all
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [CronListParamsState] = [.active, .paused, .finished, .all]

    public init(rawValue: String) {
        switch rawValue {
        case "active": self = .active
        case "paused": self = .paused
        case "finished": self = .finished
        case "all": self = .all
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .active: return "active"
        case .paused: return "paused"
        case .finished: return "finished"
        case .all: return "all"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct CronListResult: Codable, Hashable, Sendable {
    public let jobs: [Job]
    public let nextCursor: String?

    public init(
        jobs: [Job],
        nextCursor: String? = nil
    ) {
        self.jobs = jobs
        self.nextCursor = nextCursor
    }
}

/// `cron.get`: Read one job.
public struct CronGetParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle

    public init(
        id: AttachmentHandle
    ) {
        self.id = id
    }
}

public struct CronGetResult: Codable, Hashable, Sendable {
    public let job: Job

    public init(
        job: Job
    ) {
        self.job = job
    }
}

/// `cron.preview`: When a schedule would be due next, without making a job of it.
public struct CronPreviewParams: Codable, Hashable, Sendable {
    public let schedule: ScheduleWish
    public let count: Int?

    public init(
        schedule: ScheduleWish,
        count: Int? = nil
    ) {
        self.schedule = schedule
        self.count = count
    }
}

public struct CronPreviewResult: Codable, Hashable, Sendable {
    public let schedule: Schedule
    public let times: [Int]

    public init(
        schedule: Schedule,
        times: [Int]
    ) {
        self.schedule = schedule
        self.times = times
    }
}

/// `cron.add`: Let the agent work at a later time: once, every so often, or as a cron expression says.
public struct CronAddParams: Codable, Hashable, Sendable {
    public let name: JobName?
    public let session: JobSession
    public let schedule: ScheduleWish
    public let message: JobMessage
    public let onMiss: OnMiss?
    public let overlap: Overlap?
    public let delivery: CronAddParamsDelivery?
    public let retry: JobRetry?
    public let tag: JobTag?
    public let idempotencyKey: String?

    public init(
        name: JobName? = nil,
        session: JobSession,
        schedule: ScheduleWish,
        message: JobMessage,
        onMiss: OnMiss? = nil,
        overlap: Overlap? = nil,
        delivery: CronAddParamsDelivery? = nil,
        retry: JobRetry? = nil,
        tag: JobTag? = nil,
        idempotencyKey: String? = nil
    ) {
        self.name = name
        self.session = session
        self.schedule = schedule
        self.message = message
        self.onMiss = onMiss
        self.overlap = overlap
        self.delivery = delivery
        self.retry = retry
        self.tag = tag
        self.idempotencyKey = idempotencyKey
    }
}

public enum CronAddParamsDelivery: RawRepresentable, Codable, Hashable, Sendable {
    case announce
    case none
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [CronAddParamsDelivery] = [.announce, .none]

    public init(rawValue: String) {
        switch rawValue {
        case "announce": self = .announce
        case "none": self = .none
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .announce: return "announce"
        case .none: return "none"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct CronAddResult: Codable, Hashable, Sendable {
    public let job: Job

    public init(
        job: Job
    ) {
        self.job = job
    }
}

/// `cron.update`: Change a job. With a new schedule, what is due next is worked out anew from now on.
public struct CronUpdateParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let name: JobName?
    public let session: JobSession?
    public let schedule: ScheduleWish?
    public let message: JobMessage?
    public let onMiss: OnMiss?
    public let overlap: Overlap?
    public let delivery: CronUpdateParamsDelivery?
    public let retry: Nullable<JobRetry>?
    public let tag: Nullable<JobTag>?
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        name: JobName? = nil,
        session: JobSession? = nil,
        schedule: ScheduleWish? = nil,
        message: JobMessage? = nil,
        onMiss: OnMiss? = nil,
        overlap: Overlap? = nil,
        delivery: CronUpdateParamsDelivery? = nil,
        retry: Nullable<JobRetry>? = nil,
        tag: Nullable<JobTag>? = nil,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.name = name
        self.session = session
        self.schedule = schedule
        self.message = message
        self.onMiss = onMiss
        self.overlap = overlap
        self.delivery = delivery
        self.retry = retry
        self.tag = tag
        self.idempotencyKey = idempotencyKey
    }
}

public enum CronUpdateParamsDelivery: RawRepresentable, Codable, Hashable, Sendable {
    case announce
    case none
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [CronUpdateParamsDelivery] = [.announce, .none]

    public init(rawValue: String) {
        switch rawValue {
        case "announce": self = .announce
        case "none": self = .none
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .announce: return "announce"
        case .none: return "none"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct CronUpdateResult: Codable, Hashable, Sendable {
    public let job: Job

    public init(
        job: Job
    ) {
        self.job = job
    }
}

/// `cron.remove`: Remove a job. A turn of it that runs goes on; what became of it can still be read for a while.
public struct CronRemoveParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct CronRemoveResult: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let removed: Bool

    public init(
        id: AttachmentHandle,
        removed: Bool = true
    ) {
        self.id = id
        self.removed = removed
    }
}

/// `cron.run`: Run a job now, beside its schedule; its rule for overlaps holds.
public struct CronRunParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct CronRunResult: Codable, Hashable, Sendable {
    public let job: Job
    public let occurrence: Occurrence

    public init(
        job: Job,
        occurrence: Occurrence
    ) {
        self.job = job
        self.occurrence = occurrence
    }
}

/// `cron.pause`: Let a job rest: nothing of it is due until it is resumed.
public struct CronPauseParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct CronPauseResult: Codable, Hashable, Sendable {
    public let job: Job

    public init(
        job: Job
    ) {
        self.job = job
    }
}

/// `cron.resume`: Go on with a job that rests. What would have been due meanwhile is not made up for.
public struct CronResumeParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct CronResumeResult: Codable, Hashable, Sendable {
    public let job: Job

    public init(
        job: Job
    ) {
        self.job = job
    }
}

/// `heartbeat.wake`: Let an agent look around now, as its HEARTBEAT.md says, also outside of the active hours.
public struct HeartbeatWakeParams: Codable, Hashable, Sendable {
    public let agentId: OwnerId?
    public let idempotencyKey: String?

    public init(
        agentId: OwnerId? = nil,
        idempotencyKey: String? = nil
    ) {
        self.agentId = agentId
        self.idempotencyKey = idempotencyKey
    }
}

public struct HeartbeatWakeResult: Codable, Hashable, Sendable {
    public let begun: Bool
    public let runId: String?
    public let sessionKey: SessionKey?
    public let reason: String?

    public init(
        begun: Bool,
        runId: String? = nil,
        sessionKey: SessionKey? = nil,
        reason: String? = nil
    ) {
        self.begun = begun
        self.runId = runId
        self.sessionKey = sessionKey
        self.reason = reason
    }
}

/// `cron.history`: What became of each time that a job was due, latest first; without a job, of all jobs.
public struct CronHistoryParams: Codable, Hashable, Sendable {
    public let limit: Int?
    public let cursor: String?
    public let id: AttachmentHandle?
    public let state: CronHistoryParamsState?

    public init(
        limit: Int? = nil,
        cursor: String? = nil,
        id: AttachmentHandle? = nil,
        state: CronHistoryParamsState? = nil
    ) {
        self.limit = limit
        self.cursor = cursor
        self.id = id
        self.state = state
    }
}

public enum CronHistoryParamsState: RawRepresentable, Codable, Hashable, Sendable {
    case waiting
    case running
    case done
    case failed
    case missed
    case skipped
    case interrupted
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [CronHistoryParamsState] = [.waiting, .running, .done, .failed, .missed, .skipped, .interrupted]

    public init(rawValue: String) {
        switch rawValue {
        case "waiting": self = .waiting
        case "running": self = .running
        case "done": self = .done
        case "failed": self = .failed
        case "missed": self = .missed
        case "skipped": self = .skipped
        case "interrupted": self = .interrupted
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .waiting: return "waiting"
        case .running: return "running"
        case .done: return "done"
        case .failed: return "failed"
        case .missed: return "missed"
        case .skipped: return "skipped"
        case .interrupted: return "interrupted"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public struct CronHistoryResult: Codable, Hashable, Sendable {
    public let occurrences: [CronHistoryResultOccurrencesItem]
    public let nextCursor: String?

    public init(
        occurrences: [CronHistoryResultOccurrencesItem],
        nextCursor: String? = nil
    ) {
        self.occurrences = occurrences
        self.nextCursor = nextCursor
    }
}

public struct CronHistoryResultOccurrencesItem: Codable, Hashable, Sendable {
    public let jobId: AttachmentHandle
    public let dueAt: Int
    public let state: CronHistoryResultOccurrencesItemState
    public let reason: String?
    public let sessionKey: SessionKey?
    public let runId: String?
    public let attempt: Int
    public let manual: Bool?
    public let count: Int?
    public let until: Int?
    public let retryAt: Int?
    public let startedAt: Int?
    public let endedAt: Int?
    public let jobName: JobName?

    public init(
        jobId: AttachmentHandle,
        dueAt: Int,
        state: CronHistoryResultOccurrencesItemState,
        reason: String? = nil,
        sessionKey: SessionKey? = nil,
        runId: String? = nil,
        attempt: Int,
        manual: Bool? = nil,
        count: Int? = nil,
        until: Int? = nil,
        retryAt: Int? = nil,
        startedAt: Int? = nil,
        endedAt: Int? = nil,
        jobName: JobName? = nil
    ) {
        self.jobId = jobId
        self.dueAt = dueAt
        self.state = state
        self.reason = reason
        self.sessionKey = sessionKey
        self.runId = runId
        self.attempt = attempt
        self.manual = manual
        self.count = count
        self.until = until
        self.retryAt = retryAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.jobName = jobName
    }
}

public enum CronHistoryResultOccurrencesItemState: RawRepresentable, Codable, Hashable, Sendable {
    case waiting
    case running
    case done
    case failed
    case missed
    case skipped
    case interrupted
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [CronHistoryResultOccurrencesItemState] = [.waiting, .running, .done, .failed, .missed, .skipped, .interrupted]

    public init(rawValue: String) {
        switch rawValue {
        case "waiting": self = .waiting
        case "running": self = .running
        case "done": self = .done
        case "failed": self = .failed
        case "missed": self = .missed
        case "skipped": self = .skipped
        case "interrupted": self = .interrupted
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .waiting: return "waiting"
        case .running: return "running"
        case .done: return "done"
        case .failed: return "failed"
        case .missed: return "missed"
        case .skipped: return "skipped"
        case .interrupted: return "interrupted"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `attachments.begin`: Begin to upload a file. A repeat with the same key gives the same upload.
public struct AttachmentsBeginParams: Codable, Hashable, Sendable {
    public let name: String
    public let bytes: Int
    public let mime: String?
    public let sessionKey: SessionKey?
    public let idempotencyKey: String?

    public init(
        name: String,
        bytes: Int,
        mime: String? = nil,
        sessionKey: SessionKey? = nil,
        idempotencyKey: String? = nil
    ) {
        self.name = name
        self.bytes = bytes
        self.mime = mime
        self.sessionKey = sessionKey
        self.idempotencyKey = idempotencyKey
    }
}

public struct AttachmentsBeginResult: Codable, Hashable, Sendable {
    public let uploadId: AttachmentHandle
    public let chunkBytes: Int
    public let expiresAt: Int

    public init(
        uploadId: AttachmentHandle,
        chunkBytes: Int,
        expiresAt: Int
    ) {
        self.uploadId = uploadId
        self.chunkBytes = chunkBytes
        self.expiresAt = expiresAt
    }
}

/// `attachments.chunk`: Bytes of an upload, in order. What is there already is passed over, so that a repeat does no harm; `offset` of the answer is where to go on.
public struct AttachmentsChunkParams: Codable, Hashable, Sendable {
    public let uploadId: AttachmentHandle
    public let offset: Int
    public let data: String

    public init(
        uploadId: AttachmentHandle,
        offset: Int,
        data: String
    ) {
        self.uploadId = uploadId
        self.offset = offset
        self.data = data
    }
}

public struct AttachmentsChunkResult: Codable, Hashable, Sendable {
    public let uploadId: AttachmentHandle
    public let offset: Int
    public let bytes: Int

    public init(
        uploadId: AttachmentHandle,
        offset: Int,
        bytes: Int
    ) {
        self.uploadId = uploadId
        self.offset = offset
        self.bytes = bytes
    }
}

/// `attachments.commit`: All bytes are there: keep the file. Asked again, it gives the same attachment.
public struct AttachmentsCommitParams: Codable, Hashable, Sendable {
    public let uploadId: AttachmentHandle
    public let sha256: String?
    public let idempotencyKey: String?

    public init(
        uploadId: AttachmentHandle,
        sha256: String? = nil,
        idempotencyKey: String? = nil
    ) {
        self.uploadId = uploadId
        self.sha256 = sha256
        self.idempotencyKey = idempotencyKey
    }
}

public struct AttachmentsCommitResult: Codable, Hashable, Sendable {
    public let attachment: Attachment

    public init(
        attachment: Attachment
    ) {
        self.attachment = attachment
    }
}

/// `attachments.abort`: Give up an upload.
public struct AttachmentsAbortParams: Codable, Hashable, Sendable {
    public let uploadId: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        uploadId: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.uploadId = uploadId
        self.idempotencyKey = idempotencyKey
    }
}

public struct AttachmentsAbortResult: Codable, Hashable, Sendable {
    public let uploadId: AttachmentHandle
    public let aborted: Bool

    public init(
        uploadId: AttachmentHandle,
        aborted: Bool
    ) {
        self.uploadId = uploadId
        self.aborted = aborted
    }
}

/// `attachments.list`: Files that are kept, latest first, a page at a time, and how much room they take.
public struct AttachmentsListParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey?
    public let limit: Int?
    public let cursor: String?

    public init(
        sessionKey: SessionKey? = nil,
        limit: Int? = nil,
        cursor: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.limit = limit
        self.cursor = cursor
    }
}

public struct AttachmentsListResult: Codable, Hashable, Sendable {
    public let attachments: [Attachment]
    public let nextCursor: String?
    public let usage: AttachmentsListResultUsage

    public init(
        attachments: [Attachment],
        nextCursor: String? = nil,
        usage: AttachmentsListResultUsage
    ) {
        self.attachments = attachments
        self.nextCursor = nextCursor
        self.usage = usage
    }
}

public struct AttachmentsListResultUsage: Codable, Hashable, Sendable {
    public let count: Int
    public let bytes: Int
    public let maxBytes: Int

    public init(
        count: Int,
        bytes: Int,
        maxBytes: Int
    ) {
        self.count = count
        self.bytes = bytes
        self.maxBytes = maxBytes
    }
}

/// `attachments.remove`: Remove a file. Messages that name it keep its name.
public struct AttachmentsRemoveParams: Codable, Hashable, Sendable {
    public let handle: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        handle: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.handle = handle
        self.idempotencyKey = idempotencyKey
    }
}

public struct AttachmentsRemoveResult: Codable, Hashable, Sendable {
    public let handle: AttachmentHandle
    public let removed: Bool

    public init(
        handle: AttachmentHandle,
        removed: Bool = true
    ) {
        self.handle = handle
        self.removed = removed
    }
}

/// `deliveries.list`: What plugins have sent to where sessions came from, latest first, and how it went.
public struct DeliveriesListParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey?
    public let limit: Int?
    public let cursor: String?

    public init(
        sessionKey: SessionKey? = nil,
        limit: Int? = nil,
        cursor: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.limit = limit
        self.cursor = cursor
    }
}

public struct DeliveriesListResult: Codable, Hashable, Sendable {
    public let deliveries: [DeliveryRecord]
    public let nextCursor: String?

    public init(
        deliveries: [DeliveryRecord],
        nextCursor: String? = nil
    ) {
        self.deliveries = deliveries
        self.nextCursor = nextCursor
    }
}

/// `deliveries.press`: Press a button of a delivery: it is carried out once, and then no button of that delivery can be pressed. Needs the scopes of its action, `operator.write` without any.
public struct DeliveriesPressParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let entryId: String
    public let buttonId: ItemName
    public let idempotencyKey: String?

    public init(
        sessionKey: SessionKey,
        entryId: String,
        buttonId: ItemName,
        idempotencyKey: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.entryId = entryId
        self.buttonId = buttonId
        self.idempotencyKey = idempotencyKey
    }
}

public struct DeliveriesPressResult: Codable, Hashable, Sendable {
    public let entryId: String
    public let buttonId: ItemName
    public let pluginId: OwnerId
    public let answer: ActionAnswer?
    public let text: String?

    public init(
        entryId: String,
        buttonId: ItemName,
        pluginId: OwnerId,
        answer: ActionAnswer? = nil,
        text: String? = nil
    ) {
        self.entryId = entryId
        self.buttonId = buttonId
        self.pluginId = pluginId
        self.answer = answer
        self.text = text
    }
}

/// `actions.pending`: Where plugins need a person, oldest first.
public struct ActionsPendingParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey?

    public init(
        sessionKey: SessionKey? = nil
    ) {
        self.sessionKey = sessionKey
    }
}

public struct ActionsPendingResult: Codable, Hashable, Sendable {
    public let actions: [ActionRequired]

    public init(
        actions: [ActionRequired]
    ) {
        self.actions = actions
    }
}

/// `actions.dismiss`: Put away what a plugin has asked people for. The plugin is not told.
public struct ActionsDismissParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
    }
}

public struct ActionsDismissResult: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let dismissed: Bool

    public init(
        id: AttachmentHandle,
        dismissed: Bool
    ) {
        self.id = id
        self.dismissed = dismissed
    }
}

/// `ui.pending`: What extensions ask people and wait for, oldest first, and what they show; in one session or in all.
public struct UiPendingParams: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey?

    public init(
        sessionKey: SessionKey? = nil
    ) {
        self.sessionKey = sessionKey
    }
}

public struct UiPendingResult: Codable, Hashable, Sendable {
    public let questions: [UiQuestion]
    public let shown: [UiShown]

    public init(
        questions: [UiQuestion],
        shown: [UiShown]
    ) {
        self.questions = questions
        self.shown = shown
    }
}

/// `ui.answer`: Answer a question of an extension. The first answer counts.
public struct UiAnswerParams: Codable, Hashable, Sendable {
    public let id: AttachmentHandle
    public let reply: UiReply
    public let idempotencyKey: String?

    public init(
        id: AttachmentHandle,
        reply: UiReply,
        idempotencyKey: String? = nil
    ) {
        self.id = id
        self.reply = reply
        self.idempotencyKey = idempotencyKey
    }
}

public struct UiAnswerResult: Codable, Hashable, Sendable {
    public let question: UiQuestion

    public init(
        question: UiQuestion
    ) {
        self.question = question
    }
}

/// `connect.challenge`: Sent when a socket opens: the nonce that a device signs.
public struct ConnectChallengeEvent: Codable, Hashable, Sendable {
    public let nonce: String
    public let ts: Int

    public init(
        nonce: String,
        ts: Int
    ) {
        self.nonce = nonce
        self.ts = ts
    }
}

/// `tick`: Still here.
public struct TickEvent: Codable, Hashable, Sendable {
    public let ts: Int

    public init(
        ts: Int
    ) {
        self.ts = ts
    }
}

/// `presence`: Who is connected has changed.
public struct PresenceEvent: Codable, Hashable, Sendable {
    public let presence: [PresenceEntry]

    public init(
        presence: [PresenceEntry]
    ) {
        self.presence = presence
    }
}

/// `health`: The health of the gateway has changed.
public typealias HealthEvent = Health

/// `shutdown`: The gateway is stopping; the socket closes with 1012.
public struct ShutdownEvent: Codable, Hashable, Sendable {
    public let reason: String
    public let restartExpectedMs: Int?

    public init(
        reason: String,
        restartExpectedMs: Int? = nil
    ) {
        self.reason = reason
        self.restartExpectedMs = restartExpectedMs
    }
}

/// `resumed`: Everything after the position of `resume` has been sent. The client is at `to` now: the `prev` of the next event refers to it.
public struct ResumedEvent: Codable, Hashable, Sendable {
    public let epoch: String
    public let from: Int
    public let to: Int

    public init(
        epoch: String,
        from: Int,
        to: Int
    ) {
        self.epoch = epoch
        self.from = from
        self.to = to
    }
}

/// `snapshot-required`: What was missed cannot be replayed: read the state anew, then follow from `seq`.
public struct SnapshotRequiredEvent: Codable, Hashable, Sendable {
    public let reason: SnapshotRequiredEventReason
    public let epoch: String
    public let seq: Int

    public init(
        reason: SnapshotRequiredEventReason,
        epoch: String,
        seq: Int
    ) {
        self.reason = reason
        self.epoch = epoch
        self.seq = seq
    }
}

public enum SnapshotRequiredEventReason: RawRepresentable, Codable, Hashable, Sendable {
    case epochChanged
    case tooOld
    case fromTheFuture
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [SnapshotRequiredEventReason] = [.epochChanged, .tooOld, .fromTheFuture]

    public init(rawValue: String) {
        switch rawValue {
        case "epoch-changed": self = .epochChanged
        case "too-old": self = .tooOld
        case "from-the-future": self = .fromTheFuture
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .epochChanged: return "epoch-changed"
        case .tooOld: return "too-old"
        case .fromTheFuture: return "from-the-future"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `sessions.changed`: A session was created, changed, reset or deleted, or a plugin has changed what it has in it.
public struct SessionsChangedEvent: Codable, Hashable, Sendable {
    public let key: SessionKey
    public let reason: SessionsChangedEventReason
    public let session: Session?

    public init(
        key: SessionKey,
        reason: SessionsChangedEventReason,
        session: Session? = nil
    ) {
        self.key = key
        self.reason = reason
        self.session = session
    }
}

public enum SessionsChangedEventReason: RawRepresentable, Codable, Hashable, Sendable {
    case create
    case patch
    case reset
    case delete
    case activity
    case fork
    case import_
    case pluginPatch
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [SessionsChangedEventReason] = [.create, .patch, .reset, .delete, .activity, .fork, .import_, .pluginPatch]

    public init(rawValue: String) {
        switch rawValue {
        case "create": self = .create
        case "patch": self = .patch
        case "reset": self = .reset
        case "delete": self = .delete
        case "activity": self = .activity
        case "fork": self = .fork
        case "import": self = .import_
        case "plugin-patch": self = .pluginPatch
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .create: return "create"
        case .patch: return "patch"
        case .reset: return "reset"
        case .delete: return "delete"
        case .activity: return "activity"
        case .fork: return "fork"
        case .import_: return "import"
        case .pluginPatch: return "plugin-patch"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `plugins.changed`: Plugins were loaded, unloaded or granted something: read anew what they offer.
public struct PluginsChangedEvent: Codable, Hashable, Sendable {
    public let generation: Int

    public init(
        generation: Int
    ) {
        self.generation = generation
    }
}

/// `agent`: What a run does right now: the text as it comes, tools as they work. `seq` counts within the run.
public typealias AgentEvent = RunStream

/// `chat`: The transcript has changed: a message waits, a turn began, an entry was added, a turn ended (once per run), or the leaf moved.
public struct ChatEvent: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let kind: ChatEventKind
    public let runId: String?
    public let content: [ChatEventContentItem]?
    public let from: String?
    public let via: ChatEventVia?
    public let entryId: String?
    public let entry: Entry?
    public let leafId: Nullable<String>?
    public let end: RunEnd?

    public init(
        sessionKey: SessionKey,
        kind: ChatEventKind,
        runId: String? = nil,
        content: [ChatEventContentItem]? = nil,
        from: String? = nil,
        via: ChatEventVia? = nil,
        entryId: String? = nil,
        entry: Entry? = nil,
        leafId: Nullable<String>? = nil,
        end: RunEnd? = nil
    ) {
        self.sessionKey = sessionKey
        self.kind = kind
        self.runId = runId
        self.content = content
        self.from = from
        self.via = via
        self.entryId = entryId
        self.entry = entry
        self.leafId = leafId
        self.end = end
    }
}

public enum ChatEventKind: RawRepresentable, Codable, Hashable, Sendable {
    case queued
    case started
    case entry
    case ended
    case moved
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ChatEventKind] = [.queued, .started, .entry, .ended, .moved]

    public init(rawValue: String) {
        switch rawValue {
        case "queued": self = .queued
        case "started": self = .started
        case "entry": self = .entry
        case "ended": self = .ended
        case "moved": self = .moved
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .queued: return "queued"
        case .started: return "started"
        case .entry: return "entry"
        case .ended: return "ended"
        case .moved: return "moved"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public enum ChatEventContentItem: Codable, Hashable, Sendable {
    case text(TextBlock)
    case image(ImageBlock)
    /// A type that is newer than these models, kept whole.
    case unknown(type: String, raw: JsonValue)

    private enum Discriminator: String, CodingKey { case value = "type" }

    public init(from decoder: any Decoder) throws {
        let value = try decoder.container(keyedBy: Discriminator.self).decode(String.self, forKey: .value)
        switch value {
        case "text": self = .text(try TextBlock(from: decoder))
        case "image": self = .image(try ImageBlock(from: decoder))
        default: self = .unknown(type: value, raw: try JsonValue(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let frame): try frame.encode(to: encoder)
        case .image(let frame): try frame.encode(to: encoder)
        case .unknown(_, let raw): try raw.encode(to: encoder)
        }
    }
}

public enum ChatEventVia: RawRepresentable, Codable, Hashable, Sendable {
    case plugin
    case schedule
    case heartbeat
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ChatEventVia] = [.plugin, .schedule, .heartbeat]

    public init(rawValue: String) {
        switch rawValue {
        case "plugin": self = .plugin
        case "schedule": self = .schedule
        case "heartbeat": self = .heartbeat
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .plugin: return "plugin"
        case .schedule: return "schedule"
        case .heartbeat: return "heartbeat"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `approval.requested`: Something waits for an answer of the operator.
public struct ApprovalRequestedEvent: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let approval: Approval

    public init(
        sessionKey: SessionKey,
        approval: Approval
    ) {
        self.sessionKey = sessionKey
        self.approval = approval
    }
}

/// `approval.resolved`: It was answered, has expired, or is no longer needed.
public struct ApprovalResolvedEvent: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let id: AttachmentHandle
    public let state: ApprovalResolvedEventState
    public let decision: Decision?
    public let decidedBy: String?

    public init(
        sessionKey: SessionKey,
        id: AttachmentHandle,
        state: ApprovalResolvedEventState,
        decision: Decision? = nil,
        decidedBy: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.id = id
        self.state = state
        self.decision = decision
        self.decidedBy = decidedBy
    }
}

public enum ApprovalResolvedEventState: RawRepresentable, Codable, Hashable, Sendable {
    case allowed
    case denied
    case expired
    case voided
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ApprovalResolvedEventState] = [.allowed, .denied, .expired, .voided]

    public init(rawValue: String) {
        switch rawValue {
        case "allowed": self = .allowed
        case "denied": self = .denied
        case "expired": self = .expired
        case "voided": self = .voided
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .allowed: return "allowed"
        case .denied: return "denied"
        case .expired: return "expired"
        case .voided: return "voided"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `action.required`: A plugin needs a person, in this session. `actions.pending` lists what is not settled.
public typealias ActionRequiredEvent = ActionRequired

/// `action.resolved`: It needs nobody any more: somebody has acted, has put it away, or the plugin has taken it back.
public struct ActionResolvedEvent: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let id: AttachmentHandle
    public let pluginId: OwnerId
    public let how: ActionResolvedEventHow

    public init(
        sessionKey: SessionKey,
        id: AttachmentHandle,
        pluginId: OwnerId,
        how: ActionResolvedEventHow
    ) {
        self.sessionKey = sessionKey
        self.id = id
        self.pluginId = pluginId
        self.how = how
    }
}

public enum ActionResolvedEventHow: RawRepresentable, Codable, Hashable, Sendable {
    case acted
    case dismissed
    case withdrawn
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [ActionResolvedEventHow] = [.acted, .dismissed, .withdrawn]

    public init(rawValue: String) {
        switch rawValue {
        case "acted": self = .acted
        case "dismissed": self = .dismissed
        case "withdrawn": self = .withdrawn
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .acted: return "acted"
        case .dismissed: return "dismissed"
        case .withdrawn: return "withdrawn"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `ui.requested`: An extension asks the people who watch this session. `ui.pending` lists what is not settled, `ui.answer` answers.
public typealias UiRequestedEvent = UiQuestion

/// `ui.resolved`: It was answered or put away, it took too long, or nobody waits for it any more.
public struct UiResolvedEvent: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let id: AttachmentHandle
    public let extension_: OwnerId
    public let state: UiResolvedEventState
    public let reason: String?
    public let answeredBy: String?

    public init(
        sessionKey: SessionKey,
        id: AttachmentHandle,
        extension_: OwnerId,
        state: UiResolvedEventState,
        reason: String? = nil,
        answeredBy: String? = nil
    ) {
        self.sessionKey = sessionKey
        self.id = id
        self.extension_ = extension_
        self.state = state
        self.reason = reason
        self.answeredBy = answeredBy
    }

    enum CodingKeys: String, CodingKey {
        case sessionKey = "sessionKey"
        case id = "id"
        case extension_ = "extension"
        case state = "state"
        case reason = "reason"
        case answeredBy = "answeredBy"
    }
}

public enum UiResolvedEventState: RawRepresentable, Codable, Hashable, Sendable {
    case answered
    case cancelled
    case expired
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [UiResolvedEventState] = [.answered, .cancelled, .expired]

    public init(rawValue: String) {
        switch rawValue {
        case "answered": self = .answered
        case "cancelled": self = .cancelled
        case "expired": self = .expired
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .answered: return "answered"
        case .cancelled: return "cancelled"
        case .expired: return "expired"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `ui.shown`: What an extension shows in this session has changed: all of it, as it is now.
public typealias UiShownEvent = UiShown

/// `ui.notified`: An extension tells whoever watches this session something.
public typealias UiNotifiedEvent = UiNotice

/// `hooks.traced`: There is more in the trace of a session, or its recording has ended: read on with `hooks.trace`.
public struct HooksTracedEvent: Codable, Hashable, Sendable {
    public let sessionKey: SessionKey
    public let seq: Int

    public init(
        sessionKey: SessionKey,
        seq: Int
    ) {
        self.sessionKey = sessionKey
        self.seq = seq
    }
}

/// `cron`: A job was added, changed or removed, or one of its occurrences has begun, waits or has ended.
public struct CronEvent: Codable, Hashable, Sendable {
    public let kind: CronEventKind
    public let job: Job
    public let occurrence: Occurrence?

    public init(
        kind: CronEventKind,
        job: Job,
        occurrence: Occurrence? = nil
    ) {
        self.kind = kind
        self.job = job
        self.occurrence = occurrence
    }
}

public enum CronEventKind: RawRepresentable, Codable, Hashable, Sendable {
    case added
    case updated
    case removed
    case occurrence
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [CronEventKind] = [.added, .updated, .removed, .occurrence]

    public init(rawValue: String) {
        switch rawValue {
        case "added": self = .added
        case "updated": self = .updated
        case "removed": self = .removed
        case "occurrence": self = .occurrence
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .added: return "added"
        case .updated: return "updated"
        case .removed: return "removed"
        case .occurrence: return "occurrence"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// `device.pair.requested`: A device asks to be let in.
public typealias DevicePairRequestedEvent = PairingRequest

/// `device.pair.resolved`: A pairing request was answered or has expired.
public struct DevicePairResolvedEvent: Codable, Hashable, Sendable {
    public let requestId: AttachmentHandle
    public let deviceId: String
    public let decision: DevicePairResolvedEventDecision

    public init(
        requestId: AttachmentHandle,
        deviceId: String,
        decision: DevicePairResolvedEventDecision
    ) {
        self.requestId = requestId
        self.deviceId = deviceId
        self.decision = decision
    }
}

public enum DevicePairResolvedEventDecision: RawRepresentable, Codable, Hashable, Sendable {
    case approved
    case rejected
    case expired
    /// A value that is newer than these models.
    case unknown(String)

    public static let known: [DevicePairResolvedEventDecision] = [.approved, .rejected, .expired]

    public init(rawValue: String) {
        switch rawValue {
        case "approved": self = .approved
        case "rejected": self = .rejected
        case "expired": self = .expired
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .approved: return "approved"
        case .rejected: return "rejected"
        case .expired: return "expired"
        case .unknown(let value): return value
        }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// Every method, with the types of its params and its result.
public enum GatewayMethods {
    /// Is the gateway well?
    public enum Health: GatewayMethod {
        public typealias Params = HealthParams
        public typealias Result = HealthResult
        public static let name = "health"
    }
    /// What the gateway is and how it does.
    public enum Status: GatewayMethod {
        public typealias Params = StatusParams
        public typealias Result = StatusResult
        public static let name = "status"
    }
    /// Say the text back.
    public enum SystemEcho: GatewayMethod {
        public typealias Params = SystemEchoParams
        public typealias Result = SystemEchoResult
        public static let name = "system.echo"
    }
    /// Who is connected.
    public enum PresenceList: GatewayMethod {
        public typealias Params = PresenceListParams
        public typealias Result = PresenceListResult
        public static let name = "presence.list"
    }
    /// Receive these events on this connection. A connection starts with all that its scopes allow.
    public enum EventsSubscribe: GatewayMethod {
        public typealias Params = EventsSubscribeParams
        public typealias Result = EventsSubscribeResult
        public static let name = "events.subscribe"
    }
    /// Receive these events no longer on this connection.
    public enum EventsUnsubscribe: GatewayMethod {
        public typealias Params = EventsUnsubscribeParams
        public typealias Result = EventsUnsubscribeResult
        public static let name = "events.unsubscribe"
    }
    /// Read the settings with where each comes from. Secrets are redacted.
    public enum ConfigGet: GatewayMethod {
        public typealias Params = ConfigGetParams
        public typealias Result = ConfigGetResult
        public static let name = "config.get"
    }
    /// Change settings in tenon.toml; null returns one to its default. Checked whole before anything is written.
    public enum ConfigPatch: GatewayMethod {
        public typealias Params = ConfigPatchParams
        public typealias Result = ConfigPatchResult
        public static let name = "config.patch"
    }
    /// Read log records after a cursor, oldest first.
    public enum LogsTail: GatewayMethod {
        public typealias Params = LogsTailParams
        public typealias Result = LogsTailResult
        public static let name = "logs.tail"
    }
    /// Read audit records, newest first, with the state of their hash chain.
    public enum AuditList: GatewayMethod {
        public typealias Params = AuditListParams
        public typealias Result = AuditListResult
        public static let name = "audit.list"
    }
    /// Check the installation; with `fix`, mend what can be mended safely.
    public enum DoctorRun: GatewayMethod {
        public typealias Params = DoctorRunParams
        public typealias Result = DoctorRunResult
        public static let name = "doctor.run"
    }
    /// Drain and stop the gateway.
    public enum GatewayShutdown: GatewayMethod {
        public typealias Params = GatewayShutdownParams
        public typealias Result = GatewayShutdownResult
        public static let name = "gateway.shutdown"
    }
    /// List sessions, latest change first, a page at a time; with `search`, newest first.
    public enum SessionsList: GatewayMethod {
        public typealias Params = SessionsListParams
        public typealias Result = SessionsListResult
        public static let name = "sessions.list"
    }
    /// Read one session.
    public enum SessionsGet: GatewayMethod {
        public typealias Params = SessionsGetParams
        public typealias Result = SessionsGetResult
        public static let name = "sessions.get"
    }
    /// Create a session. Without a key, a random one under the agent.
    public enum SessionsCreate: GatewayMethod {
        public typealias Params = SessionsCreateParams
        public typealias Result = SessionsCreateResult
        public static let name = "sessions.create"
    }
    /// Change fields of a session; with `ifRevision`, only if nobody changed it meanwhile; with `extension`, together with what a plugin does: all of it or nothing.
    public enum SessionsPatch: GatewayMethod {
        public typealias Params = SessionsPatchParams
        public typealias Result = SessionsPatchResult
        public static let name = "sessions.patch"
    }
    /// What plugins want told with the next turn of a session, in the order in which it is told; `pendingInjections` counts those that no turn has taken.
    public enum SessionsInjections: GatewayMethod {
        public typealias Params = SessionsInjectionsParams
        public typealias Result = SessionsInjectionsResult
        public static let name = "sessions.injections"
    }
    /// Start the session afresh: a new session id, the same key and settings.
    public enum SessionsReset: GatewayMethod {
        public typealias Params = SessionsResetParams
        public typealias Result = SessionsResetResult
        public static let name = "sessions.reset"
    }
    /// Delete a session and all that belongs to it.
    public enum SessionsDelete: GatewayMethod {
        public typealias Params = SessionsDeleteParams
        public typealias Result = SessionsDeleteResult
        public static let name = "sessions.delete"
    }
    /// All entries of a session as a tree, without their content, a page at a time in the order in which they were added.
    public enum SessionsTree: GatewayMethod {
        public typealias Params = SessionsTreeParams
        public typealias Result = SessionsTreeResult
        public static let name = "sessions.tree"
    }
    /// Go on from another entry of the tree; with `summarize`, what is left behind is summed up for the agent.
    public enum SessionsBranch: GatewayMethod {
        public typealias Params = SessionsBranchParams
        public typealias Result = SessionsBranchResult
        public static let name = "sessions.branch"
    }
    /// Go back to before a message of the user: before the last one, before the last `turns`, or before `entryId`. `text` is what it said.
    public enum SessionsRewind: GatewayMethod {
        public typealias Params = SessionsRewindParams
        public typealias Result = SessionsRewindResult
        public static let name = "sessions.rewind"
    }
    /// Make a new session from the path to an entry, or to the leaf.
    public enum SessionsFork: GatewayMethod {
        public typealias Params = SessionsForkParams
        public typealias Result = SessionsForkResult
        public static let name = "sessions.fork"
    }
    /// Put a label on an entry, or take it away with null.
    public enum SessionsLabel: GatewayMethod {
        public typealias Params = SessionsLabelParams
        public typealias Result = SessionsLabelResult
        public static let name = "sessions.label"
    }
    /// Tell the agent something else in place of an entry from now on, or leave it out with null. The entry itself stays.
    public enum SessionsContextEdit: GatewayMethod {
        public typealias Params = SessionsContextEditParams
        public typealias Result = SessionsContextEditResult
        public static let name = "sessions.contextEdit"
    }
    /// Sum up the older messages of a session now.
    public enum SessionsCompact: GatewayMethod {
        public typealias Params = SessionsCompactParams
        public typealias Result = SessionsCompactResult
        public static let name = "sessions.compact"
    }
    /// The session as lines of JSON, version 3 of pi, a page at a time.
    public enum SessionsExport: GatewayMethod {
        public typealias Params = SessionsExportParams
        public typealias Result = SessionsExportResult
        public static let name = "sessions.export"
    }
    /// Make a session from lines of JSON, version 3 of pi. All of it is checked before anything is written. Larger ones: POST /api/sessions/import.
    public enum SessionsImport: GatewayMethod {
        public typealias Params = SessionsImportParams
        public typealias Result = SessionsImportResult
        public static let name = "sessions.import"
    }
    /// Say something to the agent of a session. The idempotency key is the id of the run. A text that is a slash command is carried out instead.
    public enum ChatSend: GatewayMethod {
        public typealias Params = ChatSendParams
        public typealias Result = ChatSendResult
        public static let name = "chat.send"
    }
    /// The messages on the path to the leaf, oldest first, the latest page first.
    public enum ChatHistory: GatewayMethod {
        public typealias Params = ChatHistoryParams
        public typealias Result = ChatHistoryResult
        public static let name = "chat.history"
    }
    /// Stop the running turn of a session, or one run, running or queued.
    public enum ChatAbort: GatewayMethod {
        public typealias Params = ChatAbortParams
        public typealias Result = ChatAbortResult
        public static let name = "chat.abort"
    }
    /// Add a note to the transcript that the agent is told with its next turn; no turn is started.
    public enum ChatInject: GatewayMethod {
        public typealias Params = ChatInjectParams
        public typealias Result = ChatInjectResult
        public static let name = "chat.inject"
    }
    /// Run a turn of an agent: like `chat.send`, but without slash commands, and the session may be left out for a fresh one.
    public enum Agent: GatewayMethod {
        public typealias Params = AgentParams
        public typealias Result = AgentResult
        public static let name = "agent"
    }
    /// Wait until a run has ended, or the time is over; `text` is what the agent said last.
    public enum AgentWait: GatewayMethod {
        public typealias Params = AgentWaitParams
        public typealias Result = AgentWaitResult
        public static let name = "agent.wait"
    }
    /// The configured agents.
    public enum AgentsList: GatewayMethod {
        public typealias Params = AgentsListParams
        public typealias Result = AgentsListResult
        public static let name = "agents.list"
    }
    /// The models that can be used, and why one cannot.
    public enum ModelsList: GatewayMethod {
        public typealias Params = ModelsListParams
        public typealias Result = ModelsListResult
        public static let name = "models.list"
    }
    /// Ask a model for one word, to see whether it answers.
    public enum ModelsProbe: GatewayMethod {
        public typealias Params = ModelsProbeParams
        public typealias Result = ModelsProbeResult
        public static let name = "models.probe"
    }
    /// Sign in at a provider of models that a plugin serves. What that gives is kept for the provider and told to nobody.
    public enum ModelsSignIn: GatewayMethod {
        public typealias Params = ModelsSignInParams
        public typealias Result = ModelsSignInResult
        public static let name = "models.signIn"
    }
    /// Forget what a sign-in at a provider of models gave.
    public enum ModelsSignOut: GatewayMethod {
        public typealias Params = ModelsSignOutParams
        public typealias Result = ModelsSignOutResult
        public static let name = "models.signOut"
    }
    /// All tools, in groups.
    public enum ToolsCatalog: GatewayMethod {
        public typealias Params = ToolsCatalogParams
        public typealias Result = ToolsCatalogResult
        public static let name = "tools.catalog"
    }
    /// The tools that the agent of a session has now, and what happens when it calls them.
    public enum ToolsEffective: GatewayMethod {
        public typealias Params = ToolsEffectiveParams
        public typealias Result = ToolsEffectiveResult
        public static let name = "tools.effective"
    }
    /// The slash commands.
    public enum CommandsList: GatewayMethod {
        public typealias Params = CommandsListParams
        public typealias Result = CommandsListResult
        public static let name = "commands.list"
    }
    /// What may be typed next after a slash, as whole lines.
    public enum CommandsComplete: GatewayMethod {
        public typealias Params = CommandsCompleteParams
        public typealias Result = CommandsCompleteResult
        public static let name = "commands.complete"
    }
    /// Carry out a slash command in a session.
    public enum CommandsInvoke: GatewayMethod {
        public typealias Params = CommandsInvokeParams
        public typealias Result = CommandsInvokeResult
        public static let name = "commands.invoke"
    }
    /// Tokens and cost of a run, of a session, or of all; by model.
    public enum UsageGet: GatewayMethod {
        public typealias Params = UsageGetParams
        public typealias Result = UsageGetResult
        public static let name = "usage.get"
    }
    /// What waits for an answer, oldest first; or what was answered, newest first.
    public enum ApprovalsList: GatewayMethod {
        public typealias Params = ApprovalsListParams
        public typealias Result = ApprovalsListResult
        public static let name = "approvals.list"
    }
    /// Answer a question. The first answer counts.
    public enum ApprovalsResolve: GatewayMethod {
        public typealias Params = ApprovalsResolveParams
        public typealias Result = ApprovalsResolveResult
        public static let name = "approvals.resolve"
    }
    /// What "always for exactly this" has allowed.
    public enum ApprovalsRules: GatewayMethod {
        public typealias Params = ApprovalsRulesParams
        public typealias Result = ApprovalsRulesResult
        public static let name = "approvals.rules"
    }
    /// Take such a rule back: it asks again.
    public enum ApprovalsForget: GatewayMethod {
        public typealias Params = ApprovalsForgetParams
        public typealias Result = ApprovalsForgetResult
        public static let name = "approvals.forget"
    }
    /// Make a token with at most the scopes of the caller. The secret is in this answer only.
    public enum TokensCreate: GatewayMethod {
        public typealias Params = TokensCreateParams
        public typealias Result = TokensCreateResult
        public static let name = "tokens.create"
    }
    /// Make a code that signs one browser in, once and soon, with at most the scopes of the caller. `url` carries it.
    public enum SigninCreate: GatewayMethod {
        public typealias Params = SigninCreateParams
        public typealias Result = SigninCreateResult
        public static let name = "signin.create"
    }
    /// Give a token a new secret; sockets that use the old one are closed.
    public enum TokensRotate: GatewayMethod {
        public typealias Params = TokensRotateParams
        public typealias Result = TokensRotateResult
        public static let name = "tokens.rotate"
    }
    /// Revoke a token and close every socket that uses it.
    public enum TokensRevoke: GatewayMethod {
        public typealias Params = TokensRevokeParams
        public typealias Result = TokensRevokeResult
        public static let name = "tokens.revoke"
    }
    /// List tokens, newest first, without their secrets.
    public enum TokensList: GatewayMethod {
        public typealias Params = TokensListParams
        public typealias Result = TokensListResult
        public static let name = "tokens.list"
    }
    /// List the pairing requests that wait for an answer.
    public enum DevicePairList: GatewayMethod {
        public typealias Params = DevicePairListParams
        public typealias Result = DevicePairListResult
        public static let name = "device.pair.list"
    }
    /// Let a device in, with the scopes it asked for or fewer, never more than the caller holds.
    public enum DevicePairApprove: GatewayMethod {
        public typealias Params = DevicePairApproveParams
        public typealias Result = DevicePairApproveResult
        public static let name = "device.pair.approve"
    }
    /// Turn a pairing request down.
    public enum DevicePairReject: GatewayMethod {
        public typealias Params = DevicePairRejectParams
        public typealias Result = DevicePairRejectResult
        public static let name = "device.pair.reject"
    }
    /// List paired devices, latest first.
    public enum DeviceList: GatewayMethod {
        public typealias Params = DeviceListParams
        public typealias Result = DeviceListResult
        public static let name = "device.list"
    }
    /// Change the name of a device.
    public enum DeviceRename: GatewayMethod {
        public typealias Params = DeviceRenameParams
        public typealias Result = DeviceRenameResult
        public static let name = "device.rename"
    }
    /// Revoke a device and close its sockets.
    public enum DeviceRevoke: GatewayMethod {
        public typealias Params = DeviceRevokeParams
        public typealias Result = DeviceRevokeResult
        public static let name = "device.revoke"
    }
    /// The plugins: what each was granted, what it registered, and what was not taken.
    public enum PluginsList: GatewayMethod {
        public typealias Params = PluginsListParams
        public typealias Result = PluginsListResult
        public static let name = "plugins.list"
    }
    /// One plugin, with its configuration; with `files`, also the digest of its files as they are now.
    public enum PluginsGet: GatewayMethod {
        public typealias Params = PluginsGetParams
        public typealias Result = PluginsGetResult
        public static let name = "plugins.get"
    }
    /// What has changed about a plugin since its files were trusted: files, the grants that it asks for, and what its tools say. Of one that was never trusted, all of it is new.
    public enum PluginsChanges: GatewayMethod {
        public typealias Params = PluginsChangesParams
        public typealias Result = PluginsChangesResult
        public static let name = "plugins.changes"
    }
    /// The last lines of the log of an extension: its standard error, what it logged, and what became of its process. With `after`, only those that came since that `cursor`. A plugin inside the gateway has none: its lines are in the log of the gateway.
    public enum PluginsLogs: GatewayMethod {
        public typealias Params = PluginsLogsParams
        public typealias Result = PluginsLogsResult
        public static let name = "plugins.logs"
    }
    /// Trust the files of a plugin as they are now and what its tools say, grant what its manifest asks for, or only `grants`, and load it. With `treeHash`, only if the files are still those that `plugins.get` gave it for.
    public enum PluginsEnable: GatewayMethod {
        public typealias Params = PluginsEnableParams
        public typealias Result = PluginsEnableResult
        public static let name = "plugins.enable"
    }
    /// Unload a plugin and keep it switched off; what it keeps in sessions is removed. With `forget`, also what it keeps for itself, its grants and its configuration.
    public enum PluginsDisable: GatewayMethod {
        public typealias Params = PluginsDisableParams
        public typealias Result = PluginsDisableResult
        public static let name = "plugins.disable"
    }
    /// Load a plugin anew from its folder, or all of them.
    public enum PluginsReload: GatewayMethod {
        public typealias Params = PluginsReloadParams
        public typealias Result = PluginsReloadResult
        public static let name = "plugins.reload"
    }
    /// Let a plugin do something that its manifest asks for.
    public enum PluginsGrant: GatewayMethod {
        public typealias Params = PluginsGrantParams
        public typealias Result = PluginsGrantResult
        public static let name = "plugins.grant"
    }
    /// Take such a right back. It holds at once.
    public enum PluginsRevoke: GatewayMethod {
        public typealias Params = PluginsRevokeParams
        public typealias Result = PluginsRevokeResult
        public static let name = "plugins.revoke"
    }
    /// Set the configuration of a plugin, checked against the schema of its manifest, and load it anew; null takes it back.
    public enum PluginsConfig: GatewayMethod {
        public typealias Params = PluginsConfigParams
        public typealias Result = PluginsConfigResult
        public static let name = "plugins.config"
    }
    /// The controls that plugins show, as far as this credential may use them.
    public enum PluginsUiDescriptors: GatewayMethod {
        public typealias Params = PluginsUiDescriptorsParams
        public typealias Result = PluginsUiDescriptorsResult
        public static let name = "plugins.uiDescriptors"
    }
    /// Ask a plugin to do something in a session: a button was pressed. Needs the scopes of the action, `operator.write` without any.
    public enum PluginsSessionAction: GatewayMethod {
        public typealias Params = PluginsSessionActionParams
        public typealias Result = PluginsSessionActionResult
        public static let name = "plugins.sessionAction"
    }
    /// Tell the plugin that a button belongs to that it was pressed. The same `callbackId` within five minutes is told once.
    public enum PluginsInteract: GatewayMethod {
        public typealias Params = PluginsInteractParams
        public typealias Result = PluginsInteractResult
        public static let name = "plugins.interact"
    }
    /// Set or remove what a plugin keeps in a session. The answer has it as it is kept.
    public enum SessionsPluginPatch: GatewayMethod {
        public typealias Params = SessionsPluginPatchParams
        public typealias Result = SessionsPluginPatchResult
        public static let name = "sessions.pluginPatch"
    }
    /// Who takes part in which hook, in the order in which they are asked, with the time that each may take and how its calls went.
    public enum HooksStatus: GatewayMethod {
        public typealias Params = HooksStatusParams
        public typealias Result = HooksStatusResult
        public static let name = "hooks.status"
    }
    /// Record what plugins do in a session: in the next `turns` turns, or until it is switched off, for an hour at most. Kept in memory only.
    public enum HooksTraceRecord: GatewayMethod {
        public typealias Params = HooksTraceRecordParams
        public typealias Result = HooksTraceRecordResult
        public static let name = "hooks.trace.record"
    }
    /// What was recorded: which handler ran when, for how long, what it changed, what was refused and why. Oldest first.
    public enum HooksTrace: GatewayMethod {
        public typealias Params = HooksTraceParams
        public typealias Result = HooksTraceResult
        public static let name = "hooks.trace"
    }
    /// List jobs, newest first, a page at a time. Without `state`, those that are active or paused.
    public enum CronList: GatewayMethod {
        public typealias Params = CronListParams
        public typealias Result = CronListResult
        public static let name = "cron.list"
    }
    /// Read one job.
    public enum CronGet: GatewayMethod {
        public typealias Params = CronGetParams
        public typealias Result = CronGetResult
        public static let name = "cron.get"
    }
    /// When a schedule would be due next, without making a job of it.
    public enum CronPreview: GatewayMethod {
        public typealias Params = CronPreviewParams
        public typealias Result = CronPreviewResult
        public static let name = "cron.preview"
    }
    /// Let the agent work at a later time: once, every so often, or as a cron expression says.
    public enum CronAdd: GatewayMethod {
        public typealias Params = CronAddParams
        public typealias Result = CronAddResult
        public static let name = "cron.add"
    }
    /// Change a job. With a new schedule, what is due next is worked out anew from now on.
    public enum CronUpdate: GatewayMethod {
        public typealias Params = CronUpdateParams
        public typealias Result = CronUpdateResult
        public static let name = "cron.update"
    }
    /// Remove a job. A turn of it that runs goes on; what became of it can still be read for a while.
    public enum CronRemove: GatewayMethod {
        public typealias Params = CronRemoveParams
        public typealias Result = CronRemoveResult
        public static let name = "cron.remove"
    }
    /// Run a job now, beside its schedule; its rule for overlaps holds.
    public enum CronRun: GatewayMethod {
        public typealias Params = CronRunParams
        public typealias Result = CronRunResult
        public static let name = "cron.run"
    }
    /// Let a job rest: nothing of it is due until it is resumed.
    public enum CronPause: GatewayMethod {
        public typealias Params = CronPauseParams
        public typealias Result = CronPauseResult
        public static let name = "cron.pause"
    }
    /// Go on with a job that rests. What would have been due meanwhile is not made up for.
    public enum CronResume: GatewayMethod {
        public typealias Params = CronResumeParams
        public typealias Result = CronResumeResult
        public static let name = "cron.resume"
    }
    /// Let an agent look around now, as its HEARTBEAT.md says, also outside of the active hours.
    public enum HeartbeatWake: GatewayMethod {
        public typealias Params = HeartbeatWakeParams
        public typealias Result = HeartbeatWakeResult
        public static let name = "heartbeat.wake"
    }
    /// What became of each time that a job was due, latest first; without a job, of all jobs.
    public enum CronHistory: GatewayMethod {
        public typealias Params = CronHistoryParams
        public typealias Result = CronHistoryResult
        public static let name = "cron.history"
    }
    /// Begin to upload a file. A repeat with the same key gives the same upload.
    public enum AttachmentsBegin: GatewayMethod {
        public typealias Params = AttachmentsBeginParams
        public typealias Result = AttachmentsBeginResult
        public static let name = "attachments.begin"
    }
    /// Bytes of an upload, in order. What is there already is passed over, so that a repeat does no harm; `offset` of the answer is where to go on.
    public enum AttachmentsChunk: GatewayMethod {
        public typealias Params = AttachmentsChunkParams
        public typealias Result = AttachmentsChunkResult
        public static let name = "attachments.chunk"
    }
    /// All bytes are there: keep the file. Asked again, it gives the same attachment.
    public enum AttachmentsCommit: GatewayMethod {
        public typealias Params = AttachmentsCommitParams
        public typealias Result = AttachmentsCommitResult
        public static let name = "attachments.commit"
    }
    /// Give up an upload.
    public enum AttachmentsAbort: GatewayMethod {
        public typealias Params = AttachmentsAbortParams
        public typealias Result = AttachmentsAbortResult
        public static let name = "attachments.abort"
    }
    /// Files that are kept, latest first, a page at a time, and how much room they take.
    public enum AttachmentsList: GatewayMethod {
        public typealias Params = AttachmentsListParams
        public typealias Result = AttachmentsListResult
        public static let name = "attachments.list"
    }
    /// Remove a file. Messages that name it keep its name.
    public enum AttachmentsRemove: GatewayMethod {
        public typealias Params = AttachmentsRemoveParams
        public typealias Result = AttachmentsRemoveResult
        public static let name = "attachments.remove"
    }
    /// What plugins have sent to where sessions came from, latest first, and how it went.
    public enum DeliveriesList: GatewayMethod {
        public typealias Params = DeliveriesListParams
        public typealias Result = DeliveriesListResult
        public static let name = "deliveries.list"
    }
    /// Press a button of a delivery: it is carried out once, and then no button of that delivery can be pressed. Needs the scopes of its action, `operator.write` without any.
    public enum DeliveriesPress: GatewayMethod {
        public typealias Params = DeliveriesPressParams
        public typealias Result = DeliveriesPressResult
        public static let name = "deliveries.press"
    }
    /// Where plugins need a person, oldest first.
    public enum ActionsPending: GatewayMethod {
        public typealias Params = ActionsPendingParams
        public typealias Result = ActionsPendingResult
        public static let name = "actions.pending"
    }
    /// Put away what a plugin has asked people for. The plugin is not told.
    public enum ActionsDismiss: GatewayMethod {
        public typealias Params = ActionsDismissParams
        public typealias Result = ActionsDismissResult
        public static let name = "actions.dismiss"
    }
    /// What extensions ask people and wait for, oldest first, and what they show; in one session or in all.
    public enum UiPending: GatewayMethod {
        public typealias Params = UiPendingParams
        public typealias Result = UiPendingResult
        public static let name = "ui.pending"
    }
    /// Answer a question of an extension. The first answer counts.
    public enum UiAnswer: GatewayMethod {
        public typealias Params = UiAnswerParams
        public typealias Result = UiAnswerResult
        public static let name = "ui.answer"
    }
}

/// An event with its typed payload; one that is newer than these models is kept whole.
public enum GatewayEvent: Hashable, Sendable {
    case connectChallenge(ConnectChallengeEvent)
    case tick(TickEvent)
    case presence(PresenceEvent)
    case health(HealthEvent)
    case shutdown(ShutdownEvent)
    case resumed(ResumedEvent)
    case snapshotRequired(SnapshotRequiredEvent)
    case sessionsChanged(SessionsChangedEvent)
    case pluginsChanged(PluginsChangedEvent)
    case agent(AgentEvent)
    case chat(ChatEvent)
    case approvalRequested(ApprovalRequestedEvent)
    case approvalResolved(ApprovalResolvedEvent)
    case actionRequired(ActionRequiredEvent)
    case actionResolved(ActionResolvedEvent)
    case uiRequested(UiRequestedEvent)
    case uiResolved(UiResolvedEvent)
    case uiShown(UiShownEvent)
    case uiNotified(UiNotifiedEvent)
    case hooksTraced(HooksTracedEvent)
    case cron(CronEvent)
    case devicePairRequested(DevicePairRequestedEvent)
    case devicePairResolved(DevicePairResolvedEvent)
    case unknown(EventFrame)

    public init(_ frame: EventFrame) throws {
        let payload = frame.payload ?? .null
        switch frame.event {
        case "connect.challenge": self = .connectChallenge(try payload.decode(ConnectChallengeEvent.self))
        case "tick": self = .tick(try payload.decode(TickEvent.self))
        case "presence": self = .presence(try payload.decode(PresenceEvent.self))
        case "health": self = .health(try payload.decode(HealthEvent.self))
        case "shutdown": self = .shutdown(try payload.decode(ShutdownEvent.self))
        case "resumed": self = .resumed(try payload.decode(ResumedEvent.self))
        case "snapshot-required": self = .snapshotRequired(try payload.decode(SnapshotRequiredEvent.self))
        case "sessions.changed": self = .sessionsChanged(try payload.decode(SessionsChangedEvent.self))
        case "plugins.changed": self = .pluginsChanged(try payload.decode(PluginsChangedEvent.self))
        case "agent": self = .agent(try payload.decode(AgentEvent.self))
        case "chat": self = .chat(try payload.decode(ChatEvent.self))
        case "approval.requested": self = .approvalRequested(try payload.decode(ApprovalRequestedEvent.self))
        case "approval.resolved": self = .approvalResolved(try payload.decode(ApprovalResolvedEvent.self))
        case "action.required": self = .actionRequired(try payload.decode(ActionRequiredEvent.self))
        case "action.resolved": self = .actionResolved(try payload.decode(ActionResolvedEvent.self))
        case "ui.requested": self = .uiRequested(try payload.decode(UiRequestedEvent.self))
        case "ui.resolved": self = .uiResolved(try payload.decode(UiResolvedEvent.self))
        case "ui.shown": self = .uiShown(try payload.decode(UiShownEvent.self))
        case "ui.notified": self = .uiNotified(try payload.decode(UiNotifiedEvent.self))
        case "hooks.traced": self = .hooksTraced(try payload.decode(HooksTracedEvent.self))
        case "cron": self = .cron(try payload.decode(CronEvent.self))
        case "device.pair.requested": self = .devicePairRequested(try payload.decode(DevicePairRequestedEvent.self))
        case "device.pair.resolved": self = .devicePairResolved(try payload.decode(DevicePairResolvedEvent.self))
        default: self = .unknown(frame)
        }
    }
}
