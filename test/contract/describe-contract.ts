import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { TestResponse } from '../../src/testing.ts'
import { ENDS_OWN_SESSION, forNothing, isOwned, refusals } from './cases.ts'
import { type FixtureModule, fixturesIn } from './fixtures/index.ts'
import { effectsOf, replayAndHangUp } from './hang-ups.ts'
import {
  type Contract,
  optionsOf,
  prepare,
  type Ready,
  readContract,
  type Sendable,
  targetOf
} from './requests.ts'
import { openWorld, type World } from './world.ts'

const SETUP_MS = 120_000
/** `REPLAYS=50` repeats each request 50 times. */
const REPLAYS = Number(process.env.REPLAYS ?? 5)

/** Tests every operation of these modules in one shop: what it refuses, what it accepts, and what a repetition gets. */
export function describeContract(...modules: FixtureModule[]): void {
  describe(`operations of ${modules.join(', ')}`, () => {
    let world: World
    let contract: Contract
    let ready: Ready[]
    /** Statuses that the document does not name. */
    const unnamed = new Set<string>()

    const send = async (route: Ready, request: Sendable): Promise<TestResponse> => {
      const response = await world.request(route.method, targetOf(route, request), optionsOf(request))
      const { responses } = route.operation
      if (responses[response.status] === undefined) unnamed.add(`${route.name} ${response.status}`)
      return response
    }
    /** A request that can be performed, made anew. */
    const again = async (route: Ready): Promise<Ready> => ({
      ...route,
      request: await prepare(world, route, modules)
    })

    beforeAll(async () => {
      world = await openWorld()
      contract = await readContract(world)
      const names = fixturesIn(modules)
      ready = []
      for (const route of contract.routes.filter(({ name }) => names.has(name)))
        ready.push({ ...route, request: await prepare(world, route, modules) })
    }, SETUP_MS)
    afterAll(() => world?.close())

    test('each fixture belongs to an operation of the document', () => {
      expect([...fixturesIn(modules).keys()].sort()).toEqual(ready.map(({ name }) => name).sort())
    })

    describe('are refused', () => {
      let before: Record<string, string>
      let guest: Record<string, string>
      beforeAll(async () => {
        guest = await world.otherGuest()
        before = await world.stored()
      })

      test.each(refusals)('$name', async ({ isFor, spoil, status }) => {
        const wrong: string[] = []
        for (const route of ready.filter(each => isFor(each, contract))) {
          const answer = await send(route, spoil(route.request, route, world))
          if (answer.status !== status) wrong.push(`${route.name}: ${brief(answer)}`)
        }
        expect(wrong).toEqual([])
      })

      test('with the id of another customer: as one that does not exist', async () => {
        const wrong: string[] = []
        for (const route of ready.filter(isOwned)) {
          const stranger =
            route.tier === 'secured' ? { token: world.eve.token, headers: guest } : { headers: guest }
          const answers = []
          for (const request of [route.request, forNothing(route.request, route, world)])
            answers.push(withoutNames(await send(route, { ...request, ...stranger })))
          if (answers[0] !== answers[1] || !answers[0]?.startsWith('404 '))
            wrong.push(`${route.name}: ${answers.join(' / ')}`)
        }
        expect(wrong).toEqual([])
      })

      test('and nothing was changed', async () => {
        // Refused requests of administrators are noted.
        const { 'cartwright.audit': _, ...expected } = before
        expect(await world.stored()).toMatchObject(expected)
      })
    })

    test('are performed, and a repeated key gets the same response', { timeout: SETUP_MS }, async () => {
      const wrong: string[] = []
      for (const route of ready) {
        const request = contract.isKeyed(route)
          ? { ...route.request, headers: { ...route.request.headers, 'idempotency-key': newId() } }
          : route.request
        const first = await send(route, request)
        if (first.status >= 300) {
          wrong.push(`${route.name}: ${brief(first)}`)
          continue
        }
        const { location } = first.headers
        if (contract.names(route, first.status, 'location')) {
          const read = await world.request(
            'GET',
            String(location),
            optionsOf({ ...request, body: undefined })
          )
          if (read.status !== 200) wrong.push(`${route.name} made ${location}: ${brief(read)}`)
        } else if (location !== undefined) wrong.push(`${route.name}: its document does not name location`)
        if (!contract.isKeyed(route)) continue
        const other = { ...request, headers: { ...request.headers, 'if-match': '*' } }
        if (!contract.isReplayed(route, first.status)) continue
        if (ENDS_OWN_SESSION.has(route.name)) {
          if ((await send(route, request)).status !== 401) wrong.push(`${route.name} repeated`)
          continue
        }
        const second = await send(route, request)
        const isSame = second.status === first.status && second.text === first.text
        if (!isSame || second.headers['idempotency-replayed'] !== 'true')
          wrong.push(`${route.name} repeated: ${brief(second)}`)
        const reused = await send(route, other)
        if (reused.status !== 422) wrong.push(`${route.name} with another request: ${reused.status}`)
      }
      expect(wrong).toEqual([])
    })

    test('where every field is optional, no body is {}', { timeout: SETUP_MS }, async () => {
      const wrong: string[] = []
      for (const route of ready.filter(contract.isOptional)) {
        const outcomes = []
        for (const body of [undefined, {}]) {
          const { request } = await again(route)
          const { status, json } = await send(route, { ...request, body })
          outcomes.push(`${status} ${status < 300 ? '' : json.code}`)
        }
        if (outcomes[0] !== outcomes[1] || outcomes[0]?.includes('VALIDATION_FAILED'))
          wrong.push(`${route.name}: ${outcomes.join(', with {} ')}`)
      }
      expect(wrong).toEqual([])
    })

    test('a client that hangs up during each replay changes nothing', {
      timeout: REPLAYS * 20_000
    }, async () => {
      const origin = await world.listen()
      const wrong: string[] = []
      const performed: Ready[] = []
      for (const route of ready.filter(contract.isKeyed)) {
        const { request } = await again(route)
        const headers = { ...request.headers, 'idempotency-key': newId() }
        const keyed = { ...route, request: { ...request, headers } }
        const first = await send(keyed, keyed.request)
        if (first.status >= 300) wrong.push(`${route.name}: ${brief(first)}`)
        performed.push(keyed)
      }
      let before = await effectsOf(world)
      for (const route of [...performed, undefined]) {
        if (route !== undefined) await replayAndHangUp(origin, route, REPLAYS)
        const after = await effectsOf(world)
        const changed = Object.keys(after).filter(name => after[name] !== before[name])
        // A repeated login opens a session of its own: its response is a secret and is not stored.
        const unexpected = changed.filter(name => name !== 'auth.sessions')
        if (unexpected.length > 0)
          wrong.push(`${route?.name ?? 'after all'} changed ${unexpected.join(', ')}`)
        before = after
      }
      expect(wrong).toEqual([])
    })

    test('answer only with statuses that the document names', () => {
      expect([...unnamed]).toEqual([])
    })
  })
}

const brief = ({ status, json, text }: TestResponse) =>
  `${status} ${json?.code ?? ''} ${JSON.stringify(json?.errors ?? '')} ${text.slice(0, 100)}`

/** All but what names the request. */
const withoutNames = ({ status, json }: TestResponse) =>
  `${status} ${JSON.stringify({ ...json, request_id: '', instance: '' })}`
