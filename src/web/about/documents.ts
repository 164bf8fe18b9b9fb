/** The documents that the site shows. Only docs.tsx imports it, once a document is asked for: from the sources, they are read then. */
import { readDocuments } from './read-documents.ts' with { type: 'macro' };

export const documents = readDocuments();
