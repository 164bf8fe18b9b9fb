/** `docs.tsx` loads this at the first request: from the sources, that reads and parses the documents. */
import { readDocuments } from './read-documents.ts' with { type: 'macro' };

export const documents = readDocuments();
