import { SUMMARY_VERBS } from './summary-verbs.ts'

type ApiOperation = { tags?: readonly string[]; summary?: string; description?: string }
export type ApiDocument = {
  paths: Record<string, Record<string, ApiOperation>>
  components: Record<string, Record<string, unknown>>
}

const WORDS_MAX = 7

/** Every operation of the document with its route, such as `GET /api/cart`, and its tag. */
export const operationsOf = ({ paths }: ApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      tag: operation.tags?.[0] ?? '',
      operation
    }))
  )

/** The summaries that break a rule, one line each. */
export function badSummaries(document: ApiDocument): string[] {
  const routes = new Map<string, string>()
  return operationsOf(document).flatMap(({ route, tag, operation: { summary = '' } }) => {
    const words = summary.split(' ')
    const key = `${tag}: ${summary.toLowerCase()}`
    const other = routes.get(key)
    routes.set(key, route)
    return [
      ...(SUMMARY_VERBS.includes(words[0] ?? '') ? [] : ['does not begin with a verb of the list']),
      ...(words.length > WORDS_MAX ? [`has ${words.length} words`] : []),
      ...(/[.;:]/.test(summary) ? ['is more than one phrase'] : []),
      ...(other === undefined ? [] : [`is the summary of ${other}, too`])
    ].map(fault => `${route}: "${summary}" ${fault}`)
  })
}

const SENTENCES_MAX = 8
const SENTENCE_WORDS_MAX = 25
const PRONOUNS = /\b(?:whoever|somebody|anybody|nobody|everybody|oneself|anew|once more)\b/i

/** The descriptions that break a rule, one line each. */
export const badDescriptions = (document: ApiDocument): string[] =>
  operationsOf(document).flatMap(({ route, operation: { description = '' } }) => {
    const sentences = description.split(/(?<=\.)\s+/).filter(sentence => sentence !== '')
    const long = sentences.find(sentence => sentence.split(/\s+/).length > SENTENCE_WORDS_MAX)
    const [pronoun] = PRONOUNS.exec(description) ?? []
    return [
      ...(sentences.length === 0 ? ['has no description'] : []),
      ...(sentences.length > SENTENCES_MAX ? [`has ${sentences.length} sentences`] : []),
      ...(long === undefined ? [] : [`has a long sentence: "${long}"`]),
      ...(pronoun === undefined ? [] : [`has the word "${pronoun}"`])
    ].map(fault => `${route} ${fault}`)
  })
