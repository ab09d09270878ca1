import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusalCases } from './cases.ts'
import {
  type ContractSession,
  findBodyProblems,
  findFailedOperations,
  findHangUpEffects,
  findLeaks,
  findUnrefused
} from './checks.ts'
import { everyModule, type FixtureModule, fixturesIn } from './fixtures/index.ts'
import { noFixture, prepare, readContract } from './requests.ts'
import { openContractShop } from './world.ts'

/** Replays per request to clients that hang up. All of them take 29 CPU-seconds (2026-11). */
const REPLAYS = 50

/** Tests every operation of these modules in one shop: rejected requests, accepted requests and replays. */
export function describeContract(...modules: FixtureModule[]): void {
  let session: ContractSession

  beforeAll(async () => {
    session = await openContractSession(modules)
  })
  afterAll(() => session?.world.close())

  test('each operation of openapi.json has a fixture in the contract test', () => {
    const all = fixturesIn(everyModule)
    const missing = session.contract.routes.filter(({ name }) => !all.has(name))
    expect(missing.map(noFixture)).toEqual([])
  })

  test('each fixture of the contract test belongs to an operation of openapi.json', () => {
    expect([...fixturesIn(modules).keys()].sort()).toEqual(session.ready.map(({ name }) => name).sort())
  })

  describe('rejected operations', () => {
    let before: Record<string, string>
    let guest: Record<string, string>
    beforeAll(async () => {
      guest = await session.world.otherGuest()
      before = await session.world.stored()
    })

    test.each(refusalCases.map(each => [each.name, each] as const))(
      'each operation is rejected %s',
      async (_name, refusal) => {
        expect(await findUnrefused(session, refusal)).toEqual([])
      }
    )

    test('an id of another customer is rejected like one that does not exist', async () => {
      expect(await findLeaks(session, guest)).toEqual([])
    })

    test('rejected operations change nothing', async () => {
      // Refused requests of administrators are noted, and refused logins and codes count.
      const {
        'cartwright.audit': _,
        'auth.login_budgets': _budgets,
        'auth.login_challenges': _tries,
        ...expected
      } = before
      expect(await session.world.stored()).toMatchObject(expected)
    })
  })

  test('each operation is performed, and a repeated idempotency key gets the same response', async () => {
    expect(await findFailedOperations(session)).toEqual([])
  })

  test('an operation whose fields are all optional treats a missing body as {}', async () => {
    expect(await findBodyProblems(session)).toEqual([])
  })

  test('a client that hangs up during each replay of an operation changes nothing', async () => {
    expect(await findHangUpEffects(session, REPLAYS)).toEqual([])
  })

  test('each operation responds only with statuses that openapi.json declares', () => {
    expect([...session.undocumentedStatuses]).toEqual([])
  })
}

async function openContractSession(modules: readonly FixtureModule[]): Promise<ContractSession> {
  const world = await openContractShop()
  const contract = await readContract(world)
  const names = fixturesIn(modules)
  const session: ContractSession = { world, contract, modules, ready: [], undocumentedStatuses: new Set() }
  for (const route of contract.routes.filter(({ name }) => names.has(name)))
    session.ready.push({ ...route, request: await prepare(world, route, modules) })
  return session
}
