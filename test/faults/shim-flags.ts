/** How a process on the failing disk of `shim.c`, or one beside it, holds its syncs and sees that one is held. */
import { statSync } from 'node:fs';

/** This process's own. */
export const holdFlag = (): string => process.env.SHIM_HOLD_FLAG ?? '';

/** How many syncs have been held until now. */
export const heldCount = (flag = holdFlag()): number =>
  statSync(`${flag}.reached`, { throwIfNoEntry: false })?.size ?? 0;
