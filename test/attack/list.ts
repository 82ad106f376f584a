// All attacks, by subject.
import type { Attack } from './attack.ts';
import { approvalAttacks } from './rows/approvals.ts';
import { extensionAttacks } from './rows/extensions.ts';
import { gateAttacks } from './rows/gates.ts';
import { installAttacks } from './rows/install.ts';
import { lockOutAttacks } from './rows/lock-out.ts';
import { networkAttacks } from './rows/network.ts';
import { pageAttacks } from './rows/page.ts';
import { pluginAttacks } from './rows/plugins.ts';
import { sandboxAttacks } from './rows/sandbox.ts';
import { secretAttacks } from './rows/secrets.ts';
import { storeAttacks } from './rows/store.ts';

export const attacks: readonly Attack[] = [
  ...networkAttacks,
  ...lockOutAttacks,
  ...pageAttacks,
  ...approvalAttacks,
  ...sandboxAttacks,
  ...extensionAttacks,
  ...gateAttacks,
  ...pluginAttacks,
  ...installAttacks,
  ...secretAttacks,
  ...storeAttacks,
];
