import { expect, test } from 'vitest'
import { moduleOf, useGateway } from '../../../test/support/gateway.ts'
import { defineError } from '../../kernel/errors.ts'
import { Type } from '../../kernel/schema.ts'
import { noContent, response, Version } from '../../kernel/wire.ts'

const wishStale = defineError('stale', 'WISH_STALE', 'The wish was changed in the meantime.')
const config = { class: 'account', noReplay: 'it changes nothing' } as const
const WishResponse = response('WishResponse', { name: Type.String(), version: Version })
const wish = { name: 'a pony', version: 7 }

const wishes = moduleOf('wishes', ['/api/wishes'], tiers => {
  const { public: open } = tiers
  open.get('/wishes', { config, schema: { response: { 200: WishResponse } } }, async () => wish)
  open.post('/wishes', { config, schema: { response: { 201: WishResponse } } }, () => wish)
  open.delete('/wishes', { config, schema: { response: noContent } }, async () => {})
  open.patch('/wishes', { config, schema: { response: { 200: WishResponse } } }, async () => {
    throw wishStale({ details: { version: 9 } })
  })
  open.put(
    '/wishes',
    { config, schema: { response: { 200: WishResponse, 201: WishResponse } } },
    async () => wish
  )
})

test('a response has the status that its route declares, and the version of its object as ETag', async () => {
  const { request } = await useGateway({ modules: [wishes] })
  const answers = await Promise.all(
    ['GET', 'POST', 'DELETE', 'PATCH', 'PUT'].map(method => request(method, '/api/wishes'))
  )
  expect(answers.map(({ status, headers }) => [status, headers.etag])).toEqual([
    [200, '"7"'],
    [201, '"7"'],
    [204, undefined],
    // The version in an error body is not its ETag. With two declared 2xx statuses, the handler chooses.
    [412, undefined],
    [200, undefined]
  ])
})
