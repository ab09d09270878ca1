import { type BodySchema, escapedJson, largestOf } from './largest-body.ts'

const NUMBER_DIGITS = 300

/**
 * The bodies that cost most to read, by name, each as long as a route accepts. Nine shapes fit no schema; one is the schema
 * of the route at its maxima, if it has any. `ids`: those of variants that exist.
 */
export function worstBodies(
  schema: BodySchema | undefined,
  { bytesMax, ids }: { bytesMax: number; ids: readonly string[] }
): [name: string, body: string][] {
  const room = bytesMax - 20
  const idOf = (index: number) => ids[index % ids.length] ?? ''
  const many = (open: string, piece: (index: number) => string, close: string) => {
    const pieces: string[] = []
    let length = open.length + close.length
    while (length + 60 < bytesMax) {
      const next = piece(pieces.length)
      pieces.push(next)
      length += next.length + 1
    }
    return open + pieces.join(',') + close
  }
  const bodies: [string, string][] = [
    ['many keys', many('{', index => `"k${index}":1`, '}')],
    ['nested keys', many('{', index => `"k${index}":{"a":{"b":1}}`, '}')],
    ['empty objects', many('{"items":[', () => '{}', ']}')],
    ['deep arrays', '['.repeat(room / 2) + ']'.repeat(room / 2)],
    ['lines of text', many('{"items":[', index => `"line ${index} of a text"`, ']}')],
    ['escapes', `{"a":"${'\\u00e9'.repeat(room / 6)}"}`],
    ['huge numbers', many('{"items":[', () => '1'.repeat(NUMBER_DIGITS), ']}')],
    ['a long string', `{"a":"${'x'.repeat(room)}"}`],
    ['many items', many('{"items":[', index => `{"variant_id":"${idOf(index)}","quantity":1}`, ']}')]
  ]
  if (schema !== undefined) {
    bodies.push(['its maxima', JSON.stringify(largestOf(schema, { character: 'a', idOf }))])
    bodies.push(['its maxima, escaped', escapedJson(largestOf(schema, { character: '😀', idOf }))])
  }
  return bodies.filter(([, body]) => body.length <= bytesMax)
}
