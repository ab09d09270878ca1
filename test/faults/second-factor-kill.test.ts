import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type AuthApi, authModule } from '../../src/modules/auth/index.ts'
import { openTestShop, type TestShop } from '../../src/testing.ts'
import { type Accounts, openAccounts } from '../support/accounts.ts'
import { bytesOfBase32, enrol, nextCode } from '../support/second-factor.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import type { CrashPoint } from './crash-points.ts'
import { addressOf, throughProxy } from './postgres-address.ts'
import { watchStatements } from './postgres-wire.ts'
import type { ChunkWatch } from './proxied-connection.ts'
import { openTcpProxy } from './tcp-proxy.ts'
import { until } from './until.ts'

const PATH = '/api/auth/second-factor'
/** `npm run faults:deaths` crashes after each writing statement; the tests only at commits, because a transaction changes nothing before. */
const AT_EVERY_STATEMENT = process.env.EVERY_STATEMENT !== undefined
const READS = /\.(?:find|list|lock)_/
const MARK_KEY_APPLIED = 'idempotency.mark_key_applied'
/** Committed outside the transaction of the operation. */
const COMMITTED_SEPARATELY = new Set(['auth.count_challenge_try'])
/** Statements of background work, which the killed process does not run. */
const NOT_SENT_WHEN_KILLED = new Set(['outbox.insert_job', 'auth.commit_without_waiting'])
const INVALID = { status: 401, json: { code: 'AUTH_SECOND_FACTOR_INVALID' } }

let shop: Accounts
let crashing: Awaited<ReturnType<typeof openCrashingProcess>>
beforeAll(async () => {
  shop = await openAccounts()
  // The last administrator cannot lose the role.
  await shop.newAdmin()
  crashing = await openCrashingProcess()
})
afterAll(async () => {
  await crashing.close()
  await shop.close()
})

/**
 * A second process of the shop. At a crash point all of its connections end, which is what a database sees of `kill -9`.
 * A real process per crash point would take one second of CPU. The memory of this one has no effect, because the retry goes to `shop`.
 */
async function openCrashingProcess() {
  const name = `dying ${newId()}`
  const statements = watchStatements()
  let lastConnection: object | undefined
  let plantedConnection: object | undefined
  let answered = () => {}
  const watch: ChunkWatch = (connection, direction, chunk) => {
    if (direction === 'to_server') lastConnection = connection
    else if (connection === plantedConnection) answered()
    return statements.watch(connection, direction, chunk)
  }
  const proxy = await openTcpProxy(addressOf(shop.databaseUrl), watch)
  const url = new URL(throughProxy(shop.databaseUrl, proxy))
  url.searchParams.set('application_name', name)
  const { apiOf, request, platform, close } = await openTestShop({
    databaseUrl: url.href,
    isMigrated: true,
    runsSchedulesAtStart: false,
    modules: [authModule],
    settings: {
      ...SECRET_SETTINGS,
      CARTWRIGHT__DATABASE__POOL_SIZE: '2',
      CARTWRIGHT__DATABASE__WRITE_CONNECTIONS: '1',
      CARTWRIGHT__DATABASE__SLOW_CONNECTIONS: '1'
    }
  })
  await platform.outbox.stop()
  const isGone = async () =>
    (await shop.sql('select from pg_stat_activity where application_name = $1', [name])).length === 0

  return {
    process: { request, auth: apiOf(authModule) as AuthApi } satisfies Process,
    async crashDuring({ statement, at }: CrashPoint, work: () => Promise<Answer>): Promise<void> {
      const { promise: reached, resolve } = Promise.withResolvers<void>()
      let isReached = false
      const plant = at.endsWith('commit') ? statements.onceCommitted : statements.onceAt
      plant(statement, () => {
        isReached = true
        // The server executes the statement, and the process never receives its result.
        proxy.hang('to_program')
        plantedConnection = lastConnection
        answered = resolve
        if (at.startsWith('before')) resolve()
        return at.startsWith('before') ? 'lose' : 'pass'
      })
      // A request that fails because the pool has not reconnected since the previous crash is sent again.
      const isOver = async () => (await work()).status < 500 || isReached
      const ended = until('the request is answered', isOver)
      await Promise.race([
        reached,
        ended.then(() => Promise.reject(new Error(`${at} ${statement}: the process survived`)))
      ])
      await proxy.cut()
      await ended
      await until('the connections of the killed process are closed', isGone)
      await proxy.restore()
    },
    close: () => close().finally(proxy.close)
  }
}

type Process = Pick<TestShop, 'request'> & { auth: AuthApi }
type Answer = { status: number; json: Record<string, unknown> }
type Operation = {
  id: string
  send(through: Process): Promise<Answer>
  /** Checks that the administrator can continue with the response of the retry. */
  check(answer: Answer): Promise<void>
}

const createEnrolledAdmin = async () => {
  const admin = await shop.newAdmin()
  return { ...admin, ...(await enrol(admin)) }
}
const challengeOf = async (email: string): Promise<string> => (await shop.logIn(email)).json.challenge
const logInWith = async (email: string, code = '') =>
  shop.anonymous.post('/api/auth/login/second-factor', { challenge: await challengeOf(email), code })

const post = (path: string, token: string | undefined, body?: object) => {
  const headers = { 'idempotency-key': newId() }
  return ({ request }: Process) =>
    request('POST', path, { headers, ...(token && { token }), ...(body && { body }) })
}

async function logInOperation(
  admin: Awaited<ReturnType<typeof createEnrolledAdmin>>,
  code: string,
  codesLeft: number
) {
  const body = { challenge: await challengeOf(admin.email), code }
  return {
    id: admin.id,
    send: post('/api/auth/login/second-factor', undefined, body),
    check: async ({ json }: Answer) => {
      const read = await shop.as({ token: String(json.access_token) }).get(PATH)
      expect(read).toMatchObject({ status: 200, json: { recovery_codes_left: codesLeft } })
      expect(await shop.sql('select from auth.sessions where user_id = $1', [admin.id])).toHaveLength(2)
      expect(await logInWith(admin.email, code)).toMatchObject(INVALID)
    }
  }
}

const OPERATIONS: Readonly<Record<string, () => Promise<Operation>>> = {
  'an enrolment is started': async () => {
    const { id, email, token, post: send } = await shop.newAdmin()
    return {
      id,
      send: post(PATH, token),
      check: async ({ json }) => {
        expect((await shop.logIn(email)).status).toBe(200)
        const code = nextCode(bytesOfBase32(String(json.secret)))
        expect((await send(`${PATH}/confirm`, { code })).status).toBe(200)
      }
    }
  },
  'an enrolment is confirmed': async () => {
    const admin = await shop.newAdmin()
    const code = nextCode(bytesOfBase32((await admin.post(PATH)).json.secret))
    return {
      id: admin.id,
      send: post(`${PATH}/confirm`, admin.token, { code }),
      check: async ({ json }) => {
        expect(await logInWith(admin.email, code)).toMatchObject(INVALID)
        expect((await logInWith(admin.email, (json.recovery_codes as string[])[0])).status).toBe(200)
      }
    }
  },
  'a code of the app is accepted': async () => {
    const admin = await createEnrolledAdmin()
    return logInOperation(admin, nextCode(admin.secret), 10)
  },
  'a recovery code is accepted': async () => {
    const admin = await createEnrolledAdmin()
    return logInOperation(admin, admin.recoveryCodes[0] as string, 9)
  },
  'recovery codes are replaced': async () => {
    const admin = await createEnrolledAdmin()
    return {
      id: admin.id,
      send: post(`${PATH}/recovery-codes`, admin.token),
      check: async ({ json }) => {
        expect(await logInWith(admin.email, admin.recoveryCodes[0])).toMatchObject(INVALID)
        for (const code of (json.recovery_codes as string[]).slice(0, 2))
          expect((await logInWith(admin.email, code)).status).toBe(200)
      }
    }
  },
  'a second factor is removed': async () => {
    const { id, email, token } = await createEnrolledAdmin()
    const options = { token, headers: { 'idempotency-key': newId() } }
    return {
      id,
      send: ({ request }) => request('DELETE', PATH, options),
      check: async () => expect((await shop.logIn(email)).status).toBe(200)
    }
  },
  'the operator resets a second factor': async () => {
    const { id, email } = await createEnrolledAdmin()
    return {
      id,
      // A retry after the reset is rejected with this code.
      send: ({ auth }) =>
        auth.resetSecondFactor(email).then(
          () => ({ status: 200, json: {} }),
          ({ code }) => ({ status: code === 'AUTH_SECOND_FACTOR_NOT_ENROLLED' ? 200 : 500, json: {} })
        ),
      check: async () => {
        expect((await shop.logIn(email)).status).toBe(200)
        const noted = 'select from cartwright.audit where method = $1 and params = $2'
        expect(await shop.sql(noted, ['COMMAND', { id }])).toHaveLength(1)
      }
    }
  }
}

/** The complete state of a second factor. A crash leaves either the state before the operation or the one after it. */
const stateOf = async (id: string) =>
  (
    await shop.sql(
      `select second_factor_at, f.sealed, f.last_step,
         (select array_agg(code_hash order by code_hash) from auth.recovery_codes c where c.user_id = u.id) as codes,
         (select array_agg((s.id, s.second_factor, s.token_hash)::text order by s.id) from auth.sessions s where s.user_id = u.id) as sessions
       from auth.users u left join auth.second_factors f on f.user_id = u.id where u.id = $1`,
      [id]
    )
  )[0]

test.each(Object.keys(OPERATIONS))(
  'a process is killed while %s: the second-factor operation is complete or absent, and a retry succeeds',
  async deed => {
    const prepare = OPERATIONS[deed] as () => Promise<Operation>
    const alive = await prepare()
    const { result, statements } = await shop.record(() => alive.send(shop))
    expect(result.status).toBeLessThan(300)
    const written = new Set(statements.filter(each => !READS.test(each) && !NOT_SENT_WHEN_KILLED.has(each)))
    const last = written.has(MARK_KEY_APPLIED) ? MARK_KEY_APPLIED : 'audit.upsert_entry'
    const crashPoints: readonly CrashPoint[] = [
      ...[...written]
        .filter(each => AT_EVERY_STATEMENT || COMMITTED_SEPARATELY.has(each))
        .map(each => ({ statement: each, at: 'behind' }) as const),
      ...(['before its commit', 'behind its commit'] as const).map(at => ({ statement: last, at }))
    ]
    for (const crashPoint of crashPoints) {
      const { id, send, check: prove } = await prepare()
      const before = await stateOf(id)
      await crashing.crashDuring(crashPoint, () => send(crashing.process))
      const left = await stateOf(id)
      // The leases of the killed process expire.
      await shop.sql(`update cartwright.idempotency_keys set lease_until = now() where state = 'running'`)
      const answer = await send(shop)
      expect(answer.status, JSON.stringify(crashPoint)).toBeLessThan(300)
      expect([before, await stateOf(id)], JSON.stringify(crashPoint)).toContainEqual(left)
      await prove(answer)
    }
  }
)
