/**
 * Anyone who can open a secret may burn it instead: a GET asks, a POST burns. Like opening, burning needs the passphrase and a person's
 * tick or press, so that no scanner can do it (P4, P16). It is refused in the same ways as opening (P14, P17).
 */
import type { FC } from 'hono/jsx';
import { Sensitive } from '../../core/sensitive.ts';
import type { Form } from '../kit/form.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import {
  jsonReply,
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../kit/page.ts';
import { Button } from '../kit/parts.tsx';
import { type AskRefusal, CodeField, codeIn, notRefused } from './code-field.tsx';
import { lookFieldName, lookOf } from './look-cookie.ts';
import { opening, proofsIn, refusedAsText, refuseScript } from './sealed.tsx';
import { SealedBurnPage } from './sealed-page.tsx';
import { type AskProps, Burned, Notice, PassphraseField, SureBox } from './secret-page.tsx';
import { goneReply, keepAsking, refusedReply, type SecretDeps } from './secret-refusals.tsx';

export const burnBox = { name: 'burn', value: 'now' } as const;

export function createBurnPages(deps: SecretDeps): PageRoute[] {
  const askAgain = (request: PageRequest, problem: PageProblem) =>
    keepAsking(request, problem, (...refusal) => ask(request, deps, ...refusal));
  const refuse = async (request: PageRequest, problem: PageProblem) =>
    isByScript(await request.form()) ? refuseScript(request, problem) : askAgain(request, problem);
  return [
    {
      name: 'secretBurn',
      get: { limit: 'manage', handle: (request) => ask(request, deps, 200), refuse: askAgain },
      post: { limit: 'manage', handle: (request) => burn(request, deps), refuse },
    },
  ];
}

/** Only an end-to-end secret's script sends proofs. */
function isByScript(form: Form): boolean {
  return form.text('proof') !== '';
}

async function ask(
  request: PageRequest,
  deps: SecretDeps,
  status: number,
  refusal: Partial<AskRefusal> = {},
): Promise<PageReply> {
  const waiting = await deps.service.secretStatus({ secretKey: request.key }, request.caller);
  if (waiting.outcome === 'unknown') return goneReply(request, deps);
  const { frame } = request;
  const link = frame.href('secret', request.key);
  const code = waiting.secret.verify ? deps.here.codeSentHere(request.cookies, link) : null;
  if (waiting.secret.verify && code === null) return seeOther(link);
  if (waiting.secret.sealed)
    return opening(pageReply(status, <SealedBurnPage {...{ frame, waiting, code }} />));
  const props = { frame, waiting, code, refusal: { ...notRefused, ...refusal } };
  return pageReply(status, <BurnUnreadPage {...props} />);
}

const BurnUnreadPage: FC<AskProps> = ({ frame, waiting: { secret }, code, refusal }) => (
  <Page frame={frame} title={frame.say('recipientBurn.title')} scripts={['reveal']} styles={['secret']}>
    <h1>{frame.say('recipientBurn.title')}</h1>
    <p class="lead">{frame.say('recipientBurn.lead')}</p>
    <Notice text={refusal.notice} />
    <PostForm
      frame={frame}
      class="sheet opening"
      data-not-sealed={frame.say('secret.notSealed')}
      action={frame.href('secretBurn', secret.secretKey)}
      autocomplete="off"
    >
      <CodeField {...{ frame, code, refusal, link: frame.href('secret', secret.secretKey) }} />
      {code === null ? null : <input type="hidden" name={lookFieldName} value={code.field} />}
      {secret.hasPassphrase ? <PassphraseField frame={frame} wrong={refusal.passphrase} /> : null}
      <SureBox box={burnBox} text={frame.say('recipientBurn.sure')} wrong={refusal.box} />
      <div class="row">
        <Button frame={frame} class="alarm" say="recipientBurn.submit" />
        <a class="button quiet" href={frame.href('secret', secret.secretKey)}>
          {frame.say('secret.back')}
        </a>
      </div>
      <p class="wrong" id="by-program" role="status" data-text={frame.say('recipientBurn.pressYourself')} />
    </PostForm>
  </Page>
);

const BurnedPage: FC<{ frame: Frame }> = ({ frame }) => (
  <Page frame={frame} title={frame.say('recipientBurn.doneTitle')} styles={['secret']}>
    <Burned frame={frame} />
  </Page>
);

async function burn(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key, clientPrefix, isAbandoned } = request;
  const form = await request.form();
  const isScript = isByScript(form);
  if (!isScript && form.text(burnBox.name) !== burnBox.value)
    return ask(request, deps, 422, { box: frame.say('recipientBurn.sureMissing') });
  const proofs = isScript ? proofsIn(form) : null;
  if (isScript && proofs === null) return refusedAsText(frame.messages, { outcome: 'incomplete_link' });
  const passphrase = isScript ? null : new Sensitive(form.text('passphrase'));
  const [look, code] = [lookOf(request.cookies, form.text(lookFieldName)), codeIn(form)];
  const outcome = await deps.service.burnByRecipient({
    ...{ secretKey: key, passphrase, proofs, look, code, clientPrefix, isAbandoned },
  });
  if (outcome.outcome !== 'burned')
    return isScript
      ? refusedAsText(frame.messages, outcome)
      : refusedReply(request, deps, outcome, (...refusal) => ask(request, deps, ...refusal));
  const burned = deps.here.ended(frame.href('secret', key), { what: 'burned', at: deps.clock() });
  return {
    ...(isScript ? jsonReply(200, { burned: true }) : pageReply(200, <BurnedPage frame={frame} />)),
    cookies: [burned],
  };
}
