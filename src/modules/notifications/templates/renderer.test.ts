import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMailTemplateRenderer, type MailTemplateRenderer } from './renderer.ts'

let renderer: MailTemplateRenderer
beforeAll(() => {
  renderer = createMailTemplateRenderer({ timeZone: 'UTC' })
})
afterAll(() => renderer.close())

const words = { subject: 'Hello', text: 'Hello {{ name }}', html: '<p>{{ name }}</p>' }
const scope = { name: 'Ada & Bob', locale: 'en' }
const samples = { example: scope, minimal: scope, maximal: scope }
const LOOP = "{% assign list = (1..100000) | where_exp: 'a', 'a > 1' %}".repeat(20)
const LOOPING = { ...words, text: LOOP }
// On a busy machine the limit of wall-clock time can come before that of CPU time.
const TOO_LONG = {
  part: 'text',
  line: 1,
  message: expect.stringMatching(/^it takes longer than (?:200|5000) ms$/)
}

test('a mail template is rendered, and a fault names its part and line', async () => {
  expect(await renderer.render(words, scope)).toEqual({
    subject: 'Hello',
    text: 'Hello Ada & Bob',
    html: '<p>Ada &amp; Bob</p>'
  })
  await expect(renderer.render({ ...words, html: 'fine\n{{ unknown }}' }, scope)).rejects.toMatchObject({
    part: 'html',
    line: 2
  })
  expect(await renderer.check(words, samples)).toEqual([])
  expect(await renderer.check({ ...words, text: '{{ unknown }}' }, samples)).toMatchObject([{ part: 'text' }])
})

test('a mail template with a long loop fails without blocking the process, and the next one is rendered', async () => {
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 1)
  await expect(renderer.render(LOOPING, scope)).rejects.toMatchObject(TOO_LONG)
  clearInterval(counting)
  // It is one or two when the loop runs in this thread.
  expect(turns).toBeGreaterThan(10)
  expect(await renderer.check(LOOPING, samples)).toMatchObject([TOO_LONG])
  expect(await renderer.render(words, scope)).toMatchObject({ subject: 'Hello' })
})

test('a mail template with a long loop fails alone, and mails that wait with it are rendered', async () => {
  const tasks = [words, words, LOOPING, words, { ...words, subject: 'Last' }]
  const all = await Promise.allSettled(tasks.map(task => renderer.render(task, scope)))
  expect(all.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']
  ])
  expect(all[2]).toMatchObject({ reason: TOO_LONG })
  expect(all[4]).toMatchObject({ value: { subject: 'Last' } })
})

test('closing the renderer rejects the mail that is rendered', async () => {
  const closing = createMailTemplateRenderer({ timeZone: 'UTC' })
  await closing.render(words, scope)
  const rendered = closing.render(LOOPING, scope)
  await Promise.all([expect(rendered).rejects.toThrow('the template thread was closed'), closing.close()])
})

test('rendering a mail is rejected while a hundred tasks wait', async () => {
  const all = await Promise.allSettled(Array.from({ length: 105 }, () => renderer.render(words, scope)))
  const rejected = all.filter(({ status }) => status === 'rejected')
  expect(rejected.length).toBe(4)
  expect(rejected[0]).toMatchObject({ reason: { code: 'NOTIFICATION_RENDERER_BUSY' } })
  expect(await renderer.render(words, scope)).toMatchObject({ subject: 'Hello' })
})
