/**
 * Texts that are rightly the same in a language as in English, by language and whole text, each with its reason; `*` is
 * every language. Any other text that equals the English one counts as untranslated.
 */
const sameWord = 'the word of the language is the same';
const loanWord = 'the English word is the usual one';

export const sameAsEnglish: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': { Basic: 'the name of a plan', Identity: 'the name of a plan' },
  de: {
    '(optional)': sameWord,
    Browser: loanWord,
    Details: sameWord,
    Domain: loanWord,
    Domains: loanWord,
    Logo: sameWord,
    Passphrase: loanWord,
    Name: sameWord,
    Region: sameWord,
    'Region: {region}.': sameWord,
    Status: sameWord,
    Version: sameWord,
  },
  fr: {
    'secret.txt': sameWord,
    Logo: sameWord,
    Questions: sameWord,
    Secret: sameWord,
    Sessions: sameWord,
    Version: sameWord,
    minutes: sameWord,
    '{sender} via {name}': sameWord,
  },
  es: { No: sameWord, Plan: sameWord },
  it: {
    Account: loanWord,
    Browser: loanWord,
    Logo: sameWord,
    No: sameWord,
    Passphrase: loanWord,
    Password: loanWord,
  },
  'pt-BR': { Status: loanWord, '{sender} via {name}': sameWord },
  nl: {
    Account: loanWord,
    Browser: loanWord,
    Label: sameWord,
    Logo: sameWord,
    Status: sameWord,
    '{sender} via {name}': sameWord,
  },
  pl: {
    Logo: sameWord,
    Plan: sameWord,
    Region: sameWord,
    'Region: {region}.': sameWord,
    Status: sameWord,
  },
  sv: {
    Plan: sameWord,
    Region: sameWord,
    'Region: {region}.': sameWord,
    Status: sameWord,
    Version: sameWord,
    '{sender} via {name}': sameWord,
  },
};
