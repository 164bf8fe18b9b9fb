/** Requests for secrets, for API and pages. Notices to askers outlive a call, and never make it fail. */
import type { Caller } from '../account.ts';
import { createBackground } from '../background.ts';
import type { RequestCore } from '../ports/core.ts';
import { type AnswerInput, answer } from './answer.ts';
import { type AskInput, ask, look, report } from './ask.ts';
import { type OwnerInput, planFor, type SenderInput } from './find.ts';
import { answers, type ChangeInput, change, discard } from './mailbox.ts';

export type RequestService = ReturnType<typeof createRequestService>;

/** Binds the use cases to their ports. Methods reject only with `ServiceError`. */
export function createRequestService(parts: Omit<RequestCore, 'inBackground'>) {
  const background = createBackground();
  const core: RequestCore = { ...parts, inBackground: background.begin };
  return {
    ask: (input: AskInput, caller: Caller) => ask(core, input, caller),
    look: (input: SenderInput) => look(core, input),
    report: (input: SenderInput, clientPrefix: string) => report(core, input, clientPrefix),
    planFor: (requestKey: string) => planFor(core, requestKey),
    answer: (input: AnswerInput) => answer(core, input),
    answers: (input: OwnerInput) => answers(core, input),
    change: (input: ChangeInput, caller: Caller) => change(core, input, caller),
    discard: (input: OwnerInput, secretKey: string) => discard(core, input, secretKey),
    /** Resolves when no background work is left. */
    settled: background.settled,
  };
}
