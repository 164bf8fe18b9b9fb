/**
 * The logo of a share domain.
 *
 * Owns: the forms that bring one and take it away. Invariant: what may be brought is said before it is.
 */
import type { FC } from 'hono/jsx';
import { logoKinds, maxLogoBytes } from '../brand/logo.ts';
import { controlAttributes, Field } from '../kit/field.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Icon } from '../kit/parts.tsx';

interface LogoProps {
  readonly frame: Frame;
  /** Of the domain. */
  readonly name: string;
  readonly logoName: string | null;
  readonly wrong: string | null;
}

const types = logoKinds.map(({ type }) => type).join(',');

export const DomainLogoForm: FC<LogoProps> = ({ frame, name, logoName, wrong }) => {
  const { say } = frame.words;
  const action = frame.href('domainLogo', name);
  const texts = {
    name: 'logo',
    label: say(logoName === null ? 'domainBrand.logoNew' : 'domainBrand.logoOther'),
    hint: say('domainBrand.logoHint', { count: maxLogoBytes / 1024 }),
    wrong,
  };
  return (
    <div class="sheet">
      <h2 class="large">{say('domainBrand.logoTitle')}</h2>
      {logoName === null ? null : (
        <PostForm frame={frame} action={action} class="logo-kept">
          <img src={frame.href('logo', logoName)} alt={say('domainBrand.logoAlt')} />
          <input type="hidden" name="remove" value="yes" />
          <button class="quiet small" type="submit" id="remove-logo">
            <Icon name="trash" />
            {say('domainBrand.logoRemove')}
          </button>
        </PostForm>
      )}
      <PostForm frame={frame} action={action} enctype="multipart/form-data">
        <Field texts={texts}>
          <input {...controlAttributes(texts)} type="file" accept={types} required />
        </Field>
        <button type="submit" id="send-logo">
          {say('domainBrand.logoSubmit')}
        </button>
      </PostForm>
    </div>
  );
};
