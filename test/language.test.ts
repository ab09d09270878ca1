import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type ApiDocument, badDescriptions, badSummaries } from './support/api-texts.ts'
import { repeatedTypes, riddlesBelow, riddlesIn, textFiles } from './support/language.ts'
import { SUMMARY_VERBS } from './support/summary-verbs.ts'

// Read from the file, because test/openapi.test.ts keeps it equal to the routes.
const document: ApiDocument = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8'))

test('an API summary is a verb of the list and a noun, seven words at most, and unique within its tag', () => {
  expect(badSummaries(document)).toEqual([])
})

test('an API description has eight short sentences at most, and names who acts', () => {
  expect(badDescriptions(document)).toEqual([])
})

test('the list of verbs for API summaries is short, and sorted', () => {
  expect(SUMMARY_VERBS).toEqual([...new Set(SUMMARY_VERBS)].sort())
  expect(SUMMARY_VERBS.length).toBeLessThan(50)
})

test('the check of texts finds an API summary that breaks the rules', () => {
  const planted = (...summaries: string[]): ApiDocument => ({
    paths: Object.fromEntries(
      summaries.map((summary, i) => [`/${i}`, { get: { tags: ['wishes'], summary } }])
    ),
    components: {}
  })
  expect(badSummaries(planted('List wishes', 'Retrieve a wish'))).toEqual([])
  expect(badSummaries(planted('What somebody wants'))).toEqual([
    'GET /0: "What somebody wants" does not begin with a verb of the list'
  ])
  expect(badSummaries(planted('List the wishes of a customer by their age'))).toEqual([
    'GET /0: "List the wishes of a customer by their age" has 9 words'
  ])
  expect(badSummaries(planted('Delete a wish; others stay'))).toEqual([
    'GET /0: "Delete a wish; others stay" is more than one phrase'
  ])
  expect(badSummaries(planted('List wishes', 'list wishes'))).toEqual([
    'GET /1: "list wishes" does not begin with a verb of the list',
    'GET /1: "list wishes" is the summary of GET /0, too'
  ])
})

test('the check of texts finds an API description that breaks the rules', () => {
  const planted = (description?: string): ApiDocument => ({
    paths: { '/wishes': { get: { tags: ['wishes'], ...(description !== undefined && { description }) } } },
    components: {}
  })
  expect(badDescriptions(planted('Returns the wishes of a customer.'))).toEqual([])
  expect(badDescriptions(planted())).toEqual(['GET /wishes has no description'])
  expect(badDescriptions(planted('Tells Somebody.'))).toEqual(['GET /wishes has the word "Somebody"'])
  expect(badDescriptions(planted('It is. '.repeat(9)))).toEqual(['GET /wishes has 9 sentences'])
  const long = `${'very '.repeat(25)}long.`
  expect(badDescriptions(planted(long))).toEqual([`GET /wishes has a long sentence: "${long}"`])
})

const root = fileURLToPath(new URL('..', import.meta.url))

test('no text of the project has a pronoun such as "whoever" that does not say who acts', () => {
  expect(riddlesBelow(root)).toEqual([])
  expect(textFiles(root).length).toBeGreaterThan(1_000)
})

test('the check of texts finds words that do not say who acts, in comments, texts and names', () => {
  expect(riddlesIn('// Whoever has left\n// The customer')).toEqual(['1: Whoever'])
  expect(riddlesIn("fail('nobody may')")).toEqual(['1: nobody'])
  expect(riddlesIn('The customer whose cart expired')).toEqual([])
})

test('each exported type of the sources has a unique name', () => {
  expect(repeatedTypes(root)).toEqual([])
})
