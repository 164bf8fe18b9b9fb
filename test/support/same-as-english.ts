/**
 * Texts that are rightly the same in a language as in English, by language and whole text, each with its reason; `*` is
 * every language. Any other text that equals the English one counts as untranslated.
 */
const sameWord = 'the word of the language is the same';
const loanWord = 'the English word is the usual one';

export const sameAsEnglish: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': {
    Basic: 'the name of a plan',
    Identity: 'the name of a plan',
    'Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo Sierra Tango Uniform Victor Whiskey X-ray Yankee Zulu':
      'the international spelling alphabet (ICAO Annex 10)',
  },
  de: {
    'Link {code}…': sameWord,
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
    Menu: sameWord,
    Message: sameWord,
    Actions: sameWord,
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
    'Link {code}…': loanWord,
    Menu: sameWord,
    Database: loanWord,
    Account: loanWord,
    Browser: loanWord,
    Logo: sameWord,
    No: sameWord,
    Passphrase: loanWord,
    Password: loanWord,
  },
  'pt-BR': {
    'Link {code}…': loanWord,
    Menu: sameWord,
    Status: loanWord,
    '{sender} via {name}': sameWord,
  },
  nl: {
    'Link {code}…': sameWord,
    Menu: sameWord,
    Details: sameWord,
    Database: loanWord,
    Account: loanWord,
    Browser: loanWord,
    Label: sameWord,
    Logo: sameWord,
    Status: sameWord,
    '{sender} via {name}': sameWord,
  },
  pl: {
    'Link {code}…': loanWord,
    Menu: sameWord,
    Logo: sameWord,
    Plan: sameWord,
    Region: sameWord,
    'Region: {region}.': sameWord,
    Status: sameWord,
  },
  sv: {
    Menu: sameWord,
    Plan: sameWord,
    Region: sameWord,
    'Region: {region}.': sameWord,
    Status: sameWord,
    Version: sameWord,
    '{sender} via {name}': sameWord,
  },
};
