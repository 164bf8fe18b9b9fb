/** Requests for secrets, for API and pages. Notices to askers outlive a call, and never make it fail. */
import type { Caller } from '../account.ts';
import { createBackground } from '../background.ts';
import type { RequestCore } from '../ports/core.ts';
import { answer } from './answer.ts';
import { ask, look, report } from './ask.ts';
import { planFor } from './find.ts';
import { answers, change, discard } from './mailbox.ts';
import type {
  AnswerInput,
  AnswersInput,
  AskInput,
  ChangeRequestInput,
  DiscardInput,
  ReportInput,
  SenderInput,
} from './outcomes.ts';

export type RequestParts = Omit<RequestCore, 'inBackground'>;

export type RequestService = ReturnType<typeof createRequestService>;

/** Binds the use cases to their ports. Methods reject only with `ServiceError`. */
export function createRequestService(parts: RequestParts) {
  const background = createBackground();
  const core: RequestCore = { ...parts, inBackground: background.begin };
  return {
    ask: (input: AskInput, caller: Caller) => ask(core, input, caller),
    look: (input: SenderInput) => look(core, input),
    report: (input: ReportInput) => report(core, input),
    /** Returns the plan that limits the size of an answer. */
    planFor: (requestKey: string) => planFor(core, requestKey),
    answer: (input: AnswerInput) => answer(core, input),
    answers: (input: AnswersInput) => answers(core, input),
    change: (input: ChangeRequestInput, caller: Caller) => change(core, input, caller),
    discard: (input: DiscardInput) => discard(core, input),
    /** Resolves when no background work is left. */
    settled: background.settled,
  };
}
