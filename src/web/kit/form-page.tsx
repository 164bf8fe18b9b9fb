/**
 * Pages with a form. A refusal appears at its field and in a summary that links to it. A form that is shown again has changed nothing, and
 * no page contains a password.
 */
import type { Child, FC, PropsWithChildren } from 'hono/jsx';
import type { SignedIn } from '../../core/account.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { Day } from './day.tsx';
import { errorReply, problemTexts } from './error-page.tsx';
import { asMarkup, asTyped, controlAttributes, Field, FieldNotes, type FieldTexts } from './field.tsx';
import type { Messages } from './language.ts';
import { type Frame, Page, PostForm } from './layout.tsx';
import { type PageAction, type PageProblem, type PageReply, type PageRequest, pageReply } from './page.ts';
import { Icon, type IconName } from './parts.tsx';

export interface FormRefusal {
  readonly status: number;
  /** Keyed by field name, in the form's order. */
  readonly wrong: Readonly<Record<string, string>>;
  readonly message: string | null;
}

export function refuseField(name: string, message: string, status = 422): FormRefusal {
  return { status, wrong: { [name]: message }, message: null };
}

export function refuseForm(message: string, status: number): FormRefusal {
  return { status, wrong: {}, message };
}

export function refusalOfProblem(problem: PageProblem, messages: Messages): FormRefusal {
  const { status, form } = problemTexts(problem, messages);
  return refuseForm(form, status);
}

/** From a logged-in account. */
export interface AccountRequest extends PageRequest {
  readonly signedIn: SignedIn;
}

const isOfAccount = (request: PageRequest): request is AccountRequest => request.signedIn !== null;

/** Answers a request, or shows its form again with a refusal. */
export type Handler<Deps, Request = AccountRequest> = (
  request: Request,
  deps: Deps,
  refusal?: FormRefusal | null,
) => PageReply | Promise<PageReply>;

/** Creates a page for a logged-in account. @param redisplay if absent, the error page is shown for a refusal */
export function forAccount<Deps>(deps: Deps, handle: Handler<Deps>, redisplay?: Handler<Deps>): PageAction {
  return {
    limit: 'manage',
    needsAccount: true,
    handle(request) {
      if (!isOfAccount(request)) throw new Error('a page of an account is for somebody who is logged in');
      return handle(request, deps);
    },
    refuse: async (request, problem) =>
      redisplay !== undefined && isOfAccount(request)
        ? redisplay(request, deps, refusalOfProblem(problem, request.frame.messages))
        : errorReply(request.frame, problem),
  };
}

export function formReply(page: ReturnType<FC>, refusal: FormRefusal | null): PageReply {
  return pageReply(refusal?.status ?? 200, page);
}

export type DoneTexts = Readonly<Record<string, readonly MessageKey[]>>;

export function doneIn({ frame, query }: PageRequest, texts: DoneTexts): readonly string[] {
  const done = query.get('done') ?? '';
  return Object.hasOwn(texts, done) ? (texts[done] ?? []).map((key) => frame.say(key)) : [];
}

export interface PageHeadProps extends Partial<RefusalSummaryProps> {
  readonly frame: Frame;
  readonly title: string;
  readonly lead?: string;
  readonly done?: readonly string[];
}

export const PageHead: FC<PageHeadProps> = ({
  frame,
  title,
  lead,
  done = [],
  refusal = null,
  isQuestion = false,
}) => (
  <>
    <h1>{title}</h1>
    {lead === undefined ? null : <p class="lead">{lead}</p>}
    <DoneNote done={done} />
    <RefusalSummary frame={frame} refusal={refusal} isQuestion={isQuestion} />
  </>
);

export interface FormPageProps extends PageHeadProps {
  readonly action: string;
  /** The button's label; absent if the form has its own buttons. */
  readonly submit?: string;
  readonly isSignIn?: boolean;
  /** To read before the form; if absent, the page lists the benefits of an account after it. */
  readonly before?: Child;
  readonly after?: Child;
}

export const FormPage: FC<PropsWithChildren<FormPageProps>> = (props) => {
  const { action, submit, isSignIn = false, before, after, children, ...head } = props;
  return (
    <Page frame={head.frame} title={head.title} scripts={['account']} styles={['account']}>
      <PageHead {...head} />
      <div class="beside">
        {before}
        <div>
          <PostForm frame={head.frame} action={action} class="sheet" isSignIn={isSignIn}>
            {children}
            {submit === undefined ? null : <button type="submit">{submit}</button>}
          </PostForm>
          {after}
        </div>
        {before === undefined ? <Gives frame={head.frame} /> : null}
      </div>
    </Page>
  );
};

const gives: readonly (readonly [IconName, MessageKey])[] = [
  ['mail', 'account.givesMail'],
  ['tag', 'account.givesList'],
  ['eye', 'account.givesNotices'],
  ['clock', 'account.givesTime'],
];

const Gives: FC<{ frame: Frame }> = ({ frame: { say } }) => (
  <section class="gives" aria-labelledby="gives">
    <Day state="waiting" part={0.6} />
    <h2 id="gives">{say('account.gives')}</h2>
    <ul class="plain">
      {gives.map(([icon, text]) => (
        <li>
          <Icon name={icon} />
          {say(text)}
        </li>
      ))}
    </ul>
  </section>
);

export interface RefusalSummaryProps {
  readonly frame: Frame;
  readonly refusal: FormRefusal | null;
  /** The form never changes anything, so a refusal need not say that nothing changed. */
  readonly isQuestion?: boolean;
}

/** If only one field is wrong, its error appears only there, where the focus is. */
export const RefusalSummary: FC<RefusalSummaryProps> = ({ frame, refusal, isQuestion = false }) => {
  if (refusal === null) return null;
  const fields = Object.entries(refusal.wrong);
  const isOneField = fields.length === 1 && refusal.message === null;
  if (isOneField && isQuestion) return null;
  return (
    <div class="note alert" role="alert">
      {refusal.message === null ? null : <p>{refusal.message}</p>}
      {(isOneField ? [] : fields).map(([name, message]) => (
        <p>
          <a href={`#${name}`}>{message}</a>
        </p>
      ))}
      {isQuestion ? null : <p>{frame.say('account.refused')}</p>}
    </div>
  );
};

export const DoneNote: FC<{ done: readonly string[] }> = ({ done }) =>
  done.length === 0 ? null : (
    <div class="note" role="status">
      {done.map((text) => (
        <p>{text}</p>
      ))}
    </div>
  );

export interface TextFieldProps extends Omit<FieldTexts, 'wrong'> {
  readonly refusal: FormRefusal | null;
  readonly type?: 'email' | 'text' | 'password' | 'date';
  readonly autocomplete?: 'username' | 'email' | 'current-password' | 'new-password' | 'off';
  readonly value?: string;
  readonly isOptional?: boolean;
  readonly messages?: Messages;
}

export const TextField: FC<TextFieldProps> = (props) => {
  const { refusal, type = 'text', autocomplete = 'off', value, isOptional, messages, ...given } = props;
  const texts = { ...given, wrong: refusal?.wrong[given.name] ?? null };
  const input = (
    <input
      {...controlAttributes(texts)}
      type={type}
      autocomplete={autocomplete}
      {...asTyped}
      required={isOptional !== true}
      value={value === undefined ? value : asMarkup(value)}
    />
  );
  return (
    <Field texts={texts}>
      {messages === undefined ? input : <Showable messages={messages} name={given.name} input={input} />}
    </Field>
  );
};

/** `client/account.ts` shows the button and swaps its labels. */
const Showable: FC<{ messages: Messages; name: string; input: Child }> = ({ messages, name, input }) => (
  <div class="showable">
    {input}
    <button
      type="button"
      class="quiet"
      hidden
      data-shows={`#${name}`}
      data-other={messages.say('password.hide')}
      aria-label={messages.say('password.show')}
    >
      <Icon name="eye" />
      <Icon name="eye-off" />
    </button>
  </div>
);

export interface TickBoxProps extends Omit<FieldTexts, 'note'> {
  readonly isTicked: boolean;
}

/** Submits `yes` if ticked. */
export const TickBox: FC<TickBoxProps> = ({ isTicked, ...texts }) => (
  <>
    <label class="check">
      <input {...controlAttributes(texts)} type="checkbox" value="yes" checked={isTicked} />
      <span>{texts.label}</span>
    </label>
    <FieldNotes {...texts} hintClass="hint of-box" />
  </>
);

interface TickBoxesProps {
  readonly texts: FieldTexts;
  readonly boxes: readonly { readonly name: string; readonly label: string; readonly isTicked: boolean }[];
  readonly class?: string;
  /** Shows the legend only to screen readers, because a heading above repeats it. */
  readonly isTitled?: boolean | undefined;
}

/** Boxes that are refused together. */
export const TickBoxes: FC<TickBoxesProps> = ({ texts, boxes, isTitled, ...rest }) => {
  const { id, 'aria-describedby': describedBy } = controlAttributes(texts);
  const invalid = texts.wrong === null ? {} : { 'aria-invalid': 'true' as const };
  return (
    <fieldset id={id} tabindex={-1} aria-describedby={describedBy} {...rest}>
      <legend class={isTitled === true ? 'visually-hidden' : undefined}>{texts.label}</legend>
      {boxes.map(({ name, label, isTicked }, at) => (
        <label class="check">
          <input
            id={name}
            name={name}
            type="checkbox"
            value="yes"
            autocomplete="off"
            checked={isTicked}
            {...invalid}
            autofocus={texts.wrong !== null && at === 0}
          />
          <span>{label}</span>
        </label>
      ))}
      <FieldNotes {...texts} hintClass="hint" />
    </fieldset>
  );
};
