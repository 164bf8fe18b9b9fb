/** Pages with one message: what happened and where to go next, or a question before something is lost. */
import type { FC, PropsWithChildren } from 'hono/jsx';
import { Day, type DayState } from './day.tsx';
import { Page, type PageProps, PostForm } from './layout.tsx';

/** A link and its label. */
export type Way = readonly [address: string, label: string];

export interface MessagePageProps extends PageProps {
  readonly day?: DayState | null;
  readonly lead: string;
  readonly also?: readonly string[];
  readonly ways?: readonly Way[];
  readonly link?: Way;
}

export const MessagePage: FC<PropsWithChildren<MessagePageProps>> = (props) => {
  const { day = 'expired', lead, also = [], ways = [], link, children, ...page } = props;
  return (
    <Page {...page}>
      {day === null ? null : <Day state={day} part={0.5} />}
      <h1>{page.title}</h1>
      <p class="lead">{lead}</p>
      {also.map((text) => (
        <p>{text}</p>
      ))}
      {children}
      {ways.length === 0 ? null : <Ways ways={ways} />}
      {link === undefined ? null : (
        <p>
          <a href={link[0]}>{link[1]}</a>
        </p>
      )}
    </Page>
  );
};

const Ways: FC<{ ways: readonly Way[] }> = ({ ways }) => (
  <div class="row">
    {ways.map(([address, label], at) => (
      <a class={at === 0 ? 'button' : 'button quiet'} href={address}>
        {label}
      </a>
    ))}
  </div>
);

export interface ConfirmPageProps extends Pick<MessagePageProps, 'frame' | 'title' | 'lead' | 'also'> {
  readonly action: string;
  readonly submit: string;
  readonly keep: Way;
}

export const ConfirmPage: FC<ConfirmPageProps> = ({ action, submit, keep, ...message }) => (
  <MessagePage {...message} day="burned">
    <PostForm frame={message.frame} action={action}>
      <ConfirmRow submit={submit} keep={keep} />
    </PostForm>
  </MessagePage>
);

export const ConfirmRow: FC<Pick<ConfirmPageProps, 'submit' | 'keep'>> = ({
  submit,
  keep: [address, label],
}) => (
  <div class="row">
    <button class="alarm" type="submit">
      {submit}
    </button>
    <a class="button quiet" href={address}>
      {label}
    </a>
  </div>
);
