/** `docs.tsx` loads this file at the first request; when run from the sources, loading it reads and parses the documents. */
import { readDocuments } from './read-documents.ts' with { type: 'macro' };

export const documents = readDocuments();
