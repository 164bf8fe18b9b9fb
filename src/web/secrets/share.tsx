/**
 * Sharing: the start page and its two POSTs, which create a secret or draw a value into the form. Every refusal returns the form with
 * everything typed and stores nothing. No address, cookie or redirect contains a value.
 */
import type { Settings } from '../../config/read.ts';
import { type Caller, planOf } from '../../core/account.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Links } from '../../core/links.ts';
import { parseRecipient } from '../../core/mail/recipients.ts';
import type { Plan } from '../../core/plans.ts';
import { attemptLimits } from '../../core/secrets/attempts.ts';
import { checkRecipient } from '../../core/secrets/link-mail.ts';
import type {
  ConcealInput,
  CreationOutcome,
  ReceiptView,
  SuggestInput,
} from '../../core/secrets/outcomes.ts';
import { checkMemo } from '../../core/secrets/receipts.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { creationCapBytesFor } from '../../http/body.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { fileOf } from '../assets/assets.ts';
import {
  type Drawable,
  type DrawableField,
  drawOver,
  fieldNamed,
  shareFields,
  takeBack,
  template,
} from '../client/share-fields.ts';
import { errorReply, problemTexts } from '../kit/error-page.tsx';
import { type Messages, wrongAddress } from '../kit/language.ts';
import {
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../kit/page.ts';
import type { HereCookie, JustCreated } from './cookies.ts';
import { strengthText } from './generate.tsx';
import { maxPeople, type Person, readPeople } from './people.ts';
import { linkOf } from './receipt-life.ts';
import { PeopleList } from './share-options.tsx';
import { SharePage, SharingClosedPage } from './share-page.tsx';
import { offersSealing } from './share-sealing.tsx';
import {
  askedLifetime,
  drawnPassphrases,
  emptyForm,
  type GenerateField,
  offerOf,
  readLifetime,
  readSealed,
  readShare,
  type ShareField,
  type ShareProps,
  type ShareRefusal,
  secondsOf,
  strengthBits,
  suggestionBounds,
  type TypedShare,
  toSuggestInput,
} from './typed.ts';

/**
 * Far larger than any secret, because text that is too long must come back in the form. 1 MiB fits 100,000 Japanese characters, which a
 * form encodes as nine bytes each.
 */
const formCapBytes = 1_048_576;

interface ShareDeps {
  /** The body limit of other pages. */
  readonly bodyCapBytes: number;
  readonly service: Pick<SecretService, 'conceal' | 'suggest' | 'words' | 'findReceipt'>;
  readonly accounts: Pick<AccountService, 'listShareDomains'>;
  readonly settings: Settings;
  readonly links: Links;
  readonly justCreated: JustCreated;
  readonly here: HereCookie;
}

export function createSharePages(deps: ShareDeps): PageRoute[] {
  const { plans } = deps.settings;
  const bodyCapBytes = (caller: Caller) =>
    Math.max(formCapBytes, deps.bodyCapBytes, creationCapBytesFor(plans, planOf(plans, caller)));
  const toForm = { limit: 'none', handle: ({ frame }: PageRequest) => seeOther(frame.href('home')) } as const;
  const refuseWith = (consolation: MessageKey) => async (request: PageRequest, problem: PageProblem) => {
    const refusal = refusalOfProblem(problem, request.frame.messages);
    return refuse(request, deps, await typedIn(request, deps), refusal, consolation);
  };
  return [
    { name: 'home', get: { limit: 'none', isStatic: true, handle: (request) => showForm(request, deps) } },
    {
      name: 'share',
      get: toForm,
      post: {
        limit: 'create',
        bodyCapBytes,
        handle: (request) => share(request, deps),
        refuse: refuseWith('share.refused'),
      },
    },
    {
      name: 'suggest',
      get: toForm,
      post: {
        limit: 'manage',
        bodyCapBytes,
        handle: (request) => suggest(request, deps),
        refuse: refuseWith('suggest.nothingDrawn'),
      },
    },
    {
      name: 'again',
      get: { limit: 'none', handle: ({ frame, key }) => seeOther(frame.href('receipt', key)) },
      post: { limit: 'manage', handle: (request) => showAgain(request, deps) },
    },
    { name: 'words', isFile: true, get: { limit: 'none', handle: () => sendWords(deps) } },
  ];
}

function planFor({ caller }: PageRequest, { settings: { plans } }: ShareDeps): Plan {
  return planOf(plans, caller);
}

function mayCreate({ caller }: PageRequest, { settings }: ShareDeps): boolean {
  return settings.anonymousMayCreate || caller.kind === 'account';
}

function readFor(request: PageRequest, deps: ShareDeps, form = emptyForm): TypedShare {
  return readShare(
    form,
    planFor(request, deps),
    request.frame,
    request.signedIn?.caller.account.notify ?? [],
  );
}

async function typedIn(request: PageRequest, deps: ShareDeps): Promise<TypedShare> {
  return readFor(request, deps, await request.form());
}

async function showForm(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  if (!mayCreate(request, deps)) return pageReply(200, <SharingClosedPage frame={request.frame} />);
  return formReply(200, request, deps, { typed: readFor(request, deps) });
}

/**
 * Offers the form with an earlier secret's choices. Responds to a POST, because no address may contain them. The server no longer shows an
 * address in full, and never had the passphrase.
 */
async function showAgain(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  const { frame, key: metadataKey, caller } = request;
  const found = await deps.service.findReceipt({ metadataKey, authority: 'creator' }, caller);
  if (found.outcome === 'unknown') return errorReply(frame, { problem: 'unknown_receipt' });
  const { memo, notify, shareDomain, ttlSeconds, hasPassphrase, recipient } = found.receipt;
  const offer = offerOf(planFor(request, deps));
  // A lifetime that was changed later is rarely one that anyone would choose.
  const usual = offer.choices.find((choice) => secondsOf(choice, offer) >= ttlSeconds) ?? offer.preset;
  const ttl = String(ttlSeconds % 60 === 0 ? ttlSeconds : usual);
  const lifetime = readLifetime({ ...emptyForm, text: (name) => (name === 'ttl' ? ttl : '') }, offer);
  const typed = { ...readFor(request, deps), memo, notify, shareDomain, lifetime };
  const { say, code } = frame.messages;
  const again = [
    say('same.lead'),
    ...(hasPassphrase ? [say('same.passphrase')] : []),
    ...(recipient === null ? [] : [say('same.recipient', { recipient: code(recipient) })]),
  ].join(' ');
  return formReply(200, request, deps, { typed, again });
}

async function share(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  const { frame } = request;
  const typed = await typedIn(request, deps);
  const lifetime = askedLifetime(typed.lifetime, offerOf(planFor(request, deps)), frame.messages);
  if ('wrong' in lifetime) return refuse(request, deps, typed, at(422, 'ttl-amount', lifetime.wrong));
  const people = readPeople(typed.people);
  const wrong = flawsIn(people, typed, request);
  if (wrong !== '') return refuse(request, deps, typed, at(422, 'people', wrong));
  const sealed = readSealed(await request.form());
  const input = { ...toConcealInput(request, typed, lifetime.seconds), sealed };
  const inputs =
    people.length === 0 ? [input] : people.map((person) => ({ ...input, ...ofPerson(person, typed) }));
  // Each end-to-end link has its own fragment, so the script seals again for each person.
  const [receipts, refusal] = await createEach(sealed === null ? inputs : inputs.slice(0, 1), request, deps);
  const created = [...typed.created, ...receipts.map(({ metadataKey }) => metadataKey)];
  const left = { ...typed, created, people: people[receipts.length]?.rest ?? '' };
  const isSeveral = people.length + typed.created.length > 0;
  const page = frame.href(isSeveral ? 'several' : 'receipt', created.join('.'));
  const made = receipts.map((each) =>
    deps.here.made(frame.href('secret', each.secretKey ?? ''), each.ttlSeconds),
  );
  const cookies = receipts.length === 0 ? [] : [deps.justCreated.set(page), ...made];
  if (refusal !== null) {
    const isHere = refusal.field !== 'recipient' || typed.recipient !== '';
    const field = isHere ? refusal.field : isSeveral ? 'people' : 'verify';
    return { ...(await refuse(request, deps, left, { ...refusal, field })), cookies };
  }
  if ((await request.form()).text(shareFields.byScript) === '') return seeOther(page, cookies);
  // 201: a script cannot stop a browser from following a redirect (RFC 9110 §15.3.2). It copies the link, and then opens the receipt.
  const answer = (
    <>
      <p id="link">{receipts.map((receipt) => linkOf(receipt, deps.links))}</p>
      {sealed !== null && isSeveral ? (
        <div id="left">
          <PeopleList frame={frame} typed={left} refusal={null} />
        </div>
      ) : null}
    </>
  );
  return { ...pageReply(201, answer, { location: page }), cookies };
}

/** Labels a receipt with the name, the address unless it is mailed to, and the label that all share. */
function ofPerson({ name, address }: Person, { memo, mailsEach, verifyEach }: TypedShare) {
  const who = name === '' ? address : address === '' || mailsEach ? name : `${name} <${address}>`;
  const recipient = mailsEach ? new Sensitive(address) : null;
  const verify = verifyEach ? { verify: new Sensitive(address) } : {};
  return { memo: new Sensitive(memo === '' ? who : `${who} · ${memo}`), recipient, ...verify };
}

/** Stops at the first that fails: those before it leave the list, so that sending the form again creates nothing twice. */
async function createEach(
  inputs: readonly ConcealInput[],
  request: PageRequest,
  deps: ShareDeps,
): Promise<readonly [receipts: readonly ReceiptView[], refusal: Refusal | null]> {
  const { messages } = request.frame;
  const receipts: ReceiptView[] = [];
  for (const input of inputs) {
    const conceal = () => deps.service.conceal(input, request.caller);
    const outcome = receipts.length === 0 ? await conceal() : await request.attempt(true, conceal);
    if ('problem' in outcome) return [receipts, refusalOfProblem(outcome, messages)];
    if (outcome.outcome !== 'created') return [receipts, refusalOf(outcome, messages)];
    receipts.push(outcome.receipt);
  }
  return [receipts, null];
}

/** Checks everyone before anything is created. */
function flawsIn(people: readonly Person[], typed: TypedShare, { frame, caller }: PageRequest): string {
  const { say } = frame;
  if (people.length + typed.created.length > maxPeople) return say('several.tooMany', { max: maxPeople });
  if (people.length > 0 && typed.recipient !== '') return say('several.either');
  const who = people.map(({ name, address }) => (address || name).toLowerCase());
  const flaws = people.map((person, at) => {
    const { line, address } = person;
    const first = who.indexOf(who[at] ?? '');
    if (first < at) return say('several.twice', { line, other: people[first]?.line ?? 0 });
    const { memo, recipient, verify: to = recipient } = ofPerson(person, typed);
    const flaw = (to && checkRecipient(to, parseRecipient(address), caller)) ?? checkMemo(memo.expose());
    return flaw && say('several.line', { line, message: refusalOf(flaw, frame.messages).message });
  });
  return flaws.filter((flaw) => flaw !== null).join('\n');
}

function toConcealInput(
  { host, signedIn, clientPrefix }: PageRequest,
  typed: TypedShare,
  seconds: number,
): ConcealInput {
  const { passphrase, memo, note, recipient, verify, shareDomain, locale, notify } = typed;
  return {
    value: new Sensitive(typed.secret.text),
    sealed: null,
    passphrase: new Sensitive(passphrase.text),
    clientPrefix,
    memo: new Sensitive(memo),
    note: note === '' ? null : new Sensitive(note),
    recipient: recipient === '' ? null : new Sensitive(recipient),
    verify: verify === '' ? null : new Sensitive(verify),
    shareDomain,
    arrivedOn: host === '' ? null : host,
    // Keeps an account's empty list, so that unticking every box counts.
    notify: signedIn === null && notify.length === 0 ? null : notify,
    ttlSeconds: seconds,
    locale,
  };
}

/** Draws a value, or restores an earlier text. Responds with the form, because a redirect would have to store the value. */
async function suggest(request: PageRequest, deps: ShareDeps): Promise<PageReply> {
  const typed = await typedIn(request, deps);
  const form = await request.form();
  const { messages } = request.frame;
  const fill = (field: DrawableField, filled: Drawable, text: string) =>
    formReply(200, request, deps, { typed: { ...typed, [field]: filled }, news: { field, text } });
  const taken = form.text(shareFields.takeBack);
  if (taken !== '') {
    const field = fieldNamed(taken);
    const text = messages.say(field === 'secret' ? 'suggest.takenBack' : 'share.passphraseBack');
    return fill(field, takeBack(typed[field]), text);
  }
  if (!mayCreate(request, deps)) {
    return refuse(request, deps, typed, refusalOf({ outcome: 'account_required' }, messages));
  }
  const draw = form.text(shareFields.draw);
  if (draw === 'template') {
    return fill('secret', drawOver(typed.secret, template), messages.say('share.templateNews'));
  }
  const input =
    draw === 'passphrase' || draw === 'code' ? drawnPassphrases[draw] : toSuggestInput(typed.suggestion);
  if ('wrong' in input)
    return refuse(request, deps, typed, wrongSuggestion(input.wrong, messages), 'suggest.nothingDrawn');
  const field = fieldNamed(draw);
  const drawn = drawOver(typed[field], (await deps.service.suggest(input)).expose());
  return fill(field, drawn, drawnText(field, input, messages));
}

function drawnText(field: DrawableField, input: SuggestInput, messages: Messages): string {
  const { perLife } = attemptLimits;
  if (input.style === 'digits')
    return messages.say('share.codeDrawn', { tries: perLife, odds: 10 ** input.length / perLife });
  const bits = strengthBits(input);
  if (field === 'passphrase') return messages.say('share.passphraseDrawn', { count: bits });
  return `${messages.say('suggest.drawn')} ${strengthText(bits, messages)}`;
}

/** Sends the whole list, so that only the browser knows which words it draws. */
async function sendWords({ service }: ShareDeps): Promise<PageReply> {
  const text = `${(await service.words()).join('\n')}\n`;
  const headers = { 'cache-control': 'public, max-age=86400' };
  return { status: 200, content: { kind: 'file', file: fileOf(text, 'text/plain; charset=utf-8') }, headers };
}

/** @param consolation says that nothing happened, unless some links are created already */
function refuse(
  request: PageRequest,
  deps: ShareDeps,
  typed: TypedShare,
  { status, headers, ...refused }: Refusal,
  consolation: MessageKey = 'share.refused',
): Promise<PageReply> {
  const { say } = request.frame;
  const refusal = { ...refused, consolation: say(typed.created.length > 0 ? 'several.rest' : consolation) };
  return formReply(status, request, deps, { typed, refusal }, headers);
}

async function formReply(
  status: number,
  request: PageRequest,
  deps: ShareDeps,
  props: Pick<ShareProps, 'typed' | 'again'> & Partial<Pick<ShareProps, 'refusal' | 'news'>>,
  headers: PageReply['headers'] = {},
): Promise<PageReply> {
  const { frame } = request;
  const given = { frame, plan: planFor(request, deps), domains: await domainsFor(request, deps) };
  const reply = pageReply(status, <SharePage refusal={null} news={null} {...given} {...props} />, headers);
  return offersSealing(frame) ? { ...reply, usesWorker: true } : reply;
}

/** Returns an empty list if the store does not respond, so that the form is not lost. */
async function domainsFor({ signedIn }: PageRequest, { accounts }: ShareDeps): Promise<readonly string[]> {
  if (signedIn === null) return [];
  try {
    return await accounts.listShareDomains(signedIn);
  } catch (error) {
    if (error instanceof ServiceError) return [];
    throw error;
  }
}

type Refusal = Omit<ShareRefusal, 'consolation'> &
  Pick<PageReply, 'status'> & { readonly headers?: PageReply['headers'] };
type Refused = Exclude<CreationOutcome, { outcome: 'created' }>;

const at = (status: number, field: ShareField | null, message: string): Refusal => ({
  status,
  field,
  message,
});

function refusalOf(refused: Refused, messages: Messages): Refusal {
  const { say, wait, size } = messages;
  switch (refused.outcome) {
    case 'nothing_to_share':
      return at(400, 'secret', say('share.nothing'));
    case 'sealed_beside':
    case 'sealed_wrongly':
      return at(400, 'secret', say('share.illFormed'));
    case 'ill_formed':
      return at(400, refused.field, say('share.illFormed'));
    case 'note_too_long':
      return at(422, 'note', say('note.wrong', { max: refused.maxCharacters }));
    case 'memo_too_long':
      return at(422, 'memo', say('memo.tooLong', { max: refused.maxCharacters }));
    case 'value_too_large':
    case 'sealed_too_large':
      return at(413, 'secret', say('share.tooLarge', { size: size(refused.maxBytes) }));
    case 'passphrase_too_long':
      return at(422, 'passphrase', say('share.passphraseTooLong', { size: size(refused.maxBytes) }));
    case 'recipient_needs_account':
      return { ...at(403, 'recipient', say('share.recipientNeedsAccount')), needsLogIn: true };
    case 'verify_refused':
      return at(422, 'verify', say('share.recipientWrong'));
    case 'undeliverable_recipient':
      return at(422, 'recipient', wrongAddress(messages, 'share.recipientWrong', refused.recipient));
    case 'unknown_share_domain':
      return at(422, 'share-domain', say('share.domainWrong'));
    case 'public_sharing_disabled':
      return at(403, null, say('share.domainClosed', { domain: refused.shareDomain }));
    case 'notify_needs_account':
      return { ...at(403, 'notify', say('share.notifyNeedsAccount')), needsLogIn: true };
    case 'too_many_mails': {
      const { retryAfterSeconds } = refused;
      const headers = { 'retry-after': String(retryAfterSeconds) };
      const message = say('share.tooManyMails', { wait: wait(retryAfterSeconds) });
      return { ...at(429, 'recipient', message), headers };
    }
    case 'account_required':
      return { ...at(403, null, say('share.closedKept')), needsLogIn: true };
  }
}

function wrongSuggestion(field: GenerateField, { say }: Messages): Refusal {
  if (field === 'suggest-sets') return at(422, field, say('suggest.noSet'));
  const { min, max } = suggestionBounds[field === 'suggest-words' ? 'words' : 'length'];
  return at(422, field, say('suggest.wrongLength', { min, max }));
}

function refusalOfProblem(problem: PageProblem, messages: Messages): Refusal {
  const { status, form } = problemTexts(problem, messages);
  return at(status, null, form);
}
