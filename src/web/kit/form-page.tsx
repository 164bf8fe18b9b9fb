/**
 * Pages with a form. A refusal appears beside its field and in a summary that links to it. A form that comes back has
 * changed nothing, and a password is never put into a page.
 */
import type { Child, FC, PropsWithChildren } from 'hono/jsx';
import type { SignedIn } from '../../core/account.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { problemWords, renderErrorPage } from './error-page.tsx';
import { asMarkup, asTyped, controlAttributes, Field, FieldNotes, type FieldTexts } from './field.tsx';
import { type Frame, Page, PostForm, renderPage } from './layout.tsx';
import { type PageAction, type PageProblem, type PageReply, type PageRequest, pageReply } from './page.ts';
import { Icon } from './parts.tsx';
import type { Words } from './words.ts';

export interface FormRefusal {
  readonly status: number;
  /** What is wrong with which field, by its name, in the order of the form. */
  readonly wrong: Readonly<Record<string, string>>;
  /** What is wrong with the form as a whole. */
  readonly message: string | null;
}

export function refuseField(name: string, message: string, status = 422): FormRefusal {
  return { status, wrong: { [name]: message }, message: null };
}

export function refuseForm(message: string, status: number): FormRefusal {
  return { status, wrong: {}, message };
}

export function refusalOfProblem(problem: PageProblem, words: Words): FormRefusal {
  const { status, form } = problemWords(problem, words);
  return refuseForm(form, status);
}

type AccountHandler = (request: PageRequest, signedIn: SignedIn) => PageReply | Promise<PageReply>;

/**
 * A page for a logged-in account. `redisplay` shows the form again with what was
 * refused; without it, the error page does.
 */
export function forAccount(
  handle: AccountHandler,
  redisplay?: (
    request: PageRequest,
    signedIn: SignedIn,
    refusal: FormRefusal,
  ) => PageReply | Promise<PageReply>,
): PageAction {
  return {
    limit: 'manage',
    needsAccount: true,
    handle(request) {
      if (request.signedIn === null) throw new Error('a page of an account is for somebody who is logged in');
      return handle(request, request.signedIn);
    },
    refuse: async (request, problem) => {
      const { signedIn, frame } = request;
      if (signedIn !== null && redisplay !== undefined)
        return redisplay(request, signedIn, refusalOfProblem(problem, frame.words));
      const { status, markup } = renderErrorPage(frame, problem);
      return pageReply(status, markup);
    },
  };
}

export function formReply(page: ReturnType<FC>, refusal: FormRefusal | null): PageReply {
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

/** What a page says was just done, by the `done` of its address. */
export type DoneTexts = Readonly<Record<string, readonly MessageKey[]>>;

export function doneIn({ frame, query }: PageRequest, texts: DoneTexts): readonly string[] {
  const done = query.get('done') ?? '';
  return Object.hasOwn(texts, done) ? (texts[done] ?? []).map((key) => frame.words.say(key)) : [];
}

export interface PageHeadProps extends Partial<RefusalSummaryProps> {
  readonly frame: Frame;
  readonly title: string;
  readonly lead?: string;
  /** What was just done, in paragraphs. */
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
  /** The button's label; absent where the form brings its own buttons. */
  readonly submit?: string;
  readonly isSignIn?: boolean;
  readonly before?: Child;
  readonly after?: Child;
}

/** A page around one form, whose fields are the children. */
export const FormPage: FC<PropsWithChildren<FormPageProps>> = (props) => {
  const { action, submit, isSignIn = false, before, after, children, ...head } = props;
  return (
    <Page frame={head.frame} title={head.title} scripts={['account']} styles={['account']}>
      <div class="narrow">
        <PageHead {...head} />
        {before}
        <PostForm frame={head.frame} action={action} class="sheet" isSignIn={isSignIn}>
          {children}
          {submit === undefined ? null : <button type="submit">{submit}</button>}
        </PostForm>
        {after}
      </div>
    </Page>
  );
};

export interface RefusalSummaryProps {
  readonly frame: Frame;
  readonly refusal: FormRefusal | null;
  /** The form could not have changed anything, so there is no need to say that it has not. */
  readonly isQuestion?: boolean;
}

/** What is wrong with one field alone is said there, where the focus is, and not twice. */
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
      {isQuestion ? null : <p>{frame.words.say('account.refused')}</p>}
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
  /** Of a password that can be shown as it is typed. */
  readonly words?: Words;
}

export const TextField: FC<TextFieldProps> = (props) => {
  const { refusal, type = 'text', autocomplete = 'off', value, isOptional, words, ...given } = props;
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
      {words === undefined ? input : <Showable words={words} name={given.name} input={input} />}
    </Field>
  );
};

/** `client/account.ts` shows the button, which swaps its two labels at each press. */
const Showable: FC<{ words: Words; name: string; input: Child }> = ({ words, name, input }) => (
  <div class="showable">
    {input}
    <button
      type="button"
      class="quiet"
      hidden
      data-shows={`#${name}`}
      data-other={words.say('password.hide')}
      aria-label={words.say('password.show')}
    >
      <Icon name="eye" />
      <Icon name="eye-off" />
    </button>
  </div>
);

export interface TickBoxProps extends Omit<FieldTexts, 'note'> {
  readonly isTicked: boolean;
}

/** Sent as `yes` when it is ticked. */
export const TickBox: FC<TickBoxProps> = ({ isTicked, ...texts }) => (
  <>
    <label class="check">
      <input {...controlAttributes(texts)} type="checkbox" value="yes" checked={isTicked} />
      <span>{texts.label}</span>
    </label>
    <FieldNotes {...texts} hintClass="hint of-box" />
  </>
);

/** "As the browser asks" (`''`), then the offered languages. */
export const LanguageOptions: FC<{ frame: Frame; chosen: string }> = ({ frame, chosen }) => (
  <>
    <option value="" selected={chosen === ''}>
      {frame.words.say('account.languageAsked')}
    </option>
    {frame.settings.locales.map((locale) => (
      <option value={locale} lang={locale} selected={locale === chosen}>
        {frame.words.languageName(locale)}
      </option>
    ))}
  </>
);
