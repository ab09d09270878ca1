const wordsByPattern = new Map<string, string>()

/** Returns the `pattern` of a schema, and registers its error message, which a form can show next to the field. */
export function patternWithMessage<P extends string>(pattern: P, words: string): { pattern: P } {
  const known = wordsByPattern.get(pattern) ?? words
  if (known !== words) throw new Error(`two texts are declared for the pattern ${pattern}`)
  wordsByPattern.set(pattern, words)
  return { pattern }
}

export const patternMessage = (pattern: string): string | undefined => wordsByPattern.get(pattern)
