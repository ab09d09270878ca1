const wordsByPattern = new Map<string, string>()

/**
 * A pattern for a schema (`...matching(SLUG, 'must be ...')`) and its error message, which can be shown next to the field.
 */
export function matching<P extends string>(pattern: P, words: string): { pattern: P } {
  const known = wordsByPattern.get(pattern) ?? words
  if (known !== words) throw new Error(`two texts are declared for the pattern ${pattern}`)
  wordsByPattern.set(pattern, words)
  return { pattern }
}

export const wordsOfPattern = (pattern: string): string | undefined => wordsByPattern.get(pattern)
