/** Requests for secrets, for API and pages. Notices to askers outlive a call, and never make it fail. */
import { bindUseCases } from '../background.ts';
import type { RequestCore } from '../ports/core.ts';
import { answer } from './answer.ts';
import { ask, look, report } from './ask.ts';
import { planFor } from './find.ts';
import { answers, change, discard } from './mailbox.ts';

export type RequestService = ReturnType<typeof createRequestService>;

/** Methods reject only with `ServiceError`. */
export const createRequestService = (parts: Omit<RequestCore, 'inBackground'>) =>
  bindUseCases(parts, { ask, look, report, planFor, answer, answers, change, discard });
