/**
 * Pages that only an account has.
 *
 * Owns: the way to the log-in for everybody else. Invariant: without a session nothing is read or changed.
 */
import type { SignedIn } from '../../core/accounts/accounts.ts';
import { renderErrorPage } from '../kit/error-page.tsx';
import { type PageAction, type PageReply, type PageRequest, pageReply, seeOther } from '../page.ts';
import { type FormRefusal, refusalOfProblem } from './form-refusal.ts';

type AccountHandler = (request: PageRequest, signedIn: SignedIn) => PageReply | Promise<PageReply>;

/** `redisplay` shows the form again with what was refused; absent: the common small page says it. */
export function forAccount(
  handle: AccountHandler,
  redisplay?: (request: PageRequest, signedIn: SignedIn, refusal: FormRefusal) => Promise<PageReply>,
): PageAction {
  const toLogIn = ({ frame }: PageRequest) => seeOther(frame.href('logIn'));
  return {
    limit: 'manage',
    handle: (request) => (request.signedIn === null ? toLogIn(request) : handle(request, request.signedIn)),
    refuse: async (request, problem) => {
      const { signedIn, frame } = request;
      // A session that ended while its form was open is no reason to show the form to nobody.
      if (signedIn === null && problem.problem === 'stale_form') return toLogIn(request);
      if (signedIn !== null && redisplay !== undefined)
        return redisplay(request, signedIn, refusalOfProblem(problem, frame.words));
      const { status, markup } = renderErrorPage(frame, problem);
      return pageReply(status, markup);
    },
  };
}
