/**
 * Which setting of mail is not what it must be.
 *
 * Owns: the names by which those who read settings can tell their people what to change. Invariant: the sentence never
 * repeats the setting, which may hold a password or a key.
 */
export type MailSetting = 'server' | 'sender' | 'return_path' | 'dkim';

/** The message is a sentence that says what to do. */
export class MailSettingError extends RangeError {
  override readonly name = 'MailSettingError';
  readonly setting: MailSetting;

  constructor(setting: MailSetting, sentence: string) {
    super(sentence);
    this.setting = setting;
  }
}
