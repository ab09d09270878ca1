import { newId } from '../../src/kernel/ids.ts'
import type { TestResponse } from '../../src/testing.ts'
import { ENDS_OWN_SESSION, forMissingResource, isOwned, type RefusalCase } from './cases.ts'
import type { FixtureModule } from './fixtures/index.ts'
import { effectsOf, hangUpInsideReplay, postponeJobs, replayAndHangUp } from './hang-ups.ts'
import {
  type Contract,
  optionsOf,
  prepare,
  type ReadyOperation,
  type SendableRequest,
  targetOf
} from './requests.ts'
import type { ContractShop } from './world.ts'

export type ContractSession = {
  world: ContractShop
  contract: Contract
  modules: readonly FixtureModule[]
  /** The operations of these modules, each with a request that it accepts. */
  ready: ReadyOperation[]
  /** Statuses that an operation returned and the OpenAPI document does not name. */
  undocumentedStatuses: Set<string>
}

async function send(
  session: ContractSession,
  route: ReadyOperation,
  request: SendableRequest
): Promise<TestResponse> {
  const { world, contract, undocumentedStatuses: unnamed } = session
  const response = await world.request(route.method, targetOf(route, request), optionsOf(request))
  // The document names 412 where it offers If-Match.
  const isOffered = response.status !== 412 || contract.isConditional(route)
  if (isOffered && route.operation.responses[response.status] === undefined)
    unnamed.add(`${route.name} ${response.status}`)
  return response
}

const withNewRequest = async (
  { world, modules }: ContractSession,
  route: ReadyOperation
): Promise<ReadyOperation> => ({
  ...route,
  request: await prepare(world, route, modules)
})

/** Tables that a repeated login changes, because its response is a secret and is not replayed. */
const CHANGED_BY_LOGINS = new Set(['auth.sessions', 'auth.login_budgets'])

const withKey = (request: SendableRequest): SendableRequest => ({
  ...request,
  headers: { ...request.headers, 'idempotency-key': newId() }
})

/** Lists operations that return another status or code than expected. */
export async function findUnrefused(
  session: ContractSession,
  { isFor, spoil, status, code }: RefusalCase
): Promise<string[]> {
  const wrong: string[] = []
  for (const route of session.ready.filter(each => isFor(each, session.contract))) {
    const answer = await send(session, route, spoil(route.request, route, session.world))
    if (answer.status !== status || !code.test(answer.json.code))
      wrong.push(`${route.name}: ${brief(answer)}`)
  }
  return wrong
}

/** Lists operations whose response to another caller differs between an existing and a missing resource. */
export async function findLeaks(
  session: ContractSession,
  headers: Record<string, string>
): Promise<string[]> {
  const { world, ready } = session
  const wrong: string[] = []
  for (const route of ready.filter(isOwned)) {
    const stranger = { headers, token: route.tier === 'secured' ? world.eve.token : undefined }
    const answers: string[] = []
    for (const request of [route.request, forMissingResource(route.request, route, world)])
      answers.push(withoutNames(await send(session, route, { ...request, ...stranger })))
    if (answers[0] !== answers[1] || !answers[0]?.startsWith('404 '))
      wrong.push(`${route.name}: ${answers.join(' / ')}`)
  }
  return wrong
}

/** Performs each operation, reads the created resource, and repeats the request with its key. Lists the problems. */
export async function findFailedOperations(session: ContractSession): Promise<string[]> {
  const { contract, ready } = session
  const wrong: string[] = []
  for (const route of ready) {
    const request = contract.isKeyed(route) ? withKey(route.request) : route.request
    const first = await send(session, route, request)
    if (first.status >= 300) {
      wrong.push(`${route.name}: ${brief(first)}`)
      continue
    }
    wrong.push(...(await locationProblems(session, route, first)))
    if (contract.isReplayed(route, first.status))
      wrong.push(...(await replayProblems(session, { ...route, request }, first)))
  }
  return wrong
}

/** Checks the Location of a response: it is present exactly where the document names it, and its path can be read. */
async function locationProblems(
  { world, contract }: ContractSession,
  route: ReadyOperation,
  { status, json, ...first }: TestResponse
) {
  const { location } = first.headers as Record<string, string | undefined>
  const isNamed = contract.names(route, status, 'location')
  if (isNamed !== (location !== undefined)) return [`${route.name}: location ${location}, named: ${isNamed}`]
  if (location === undefined) return []
  // A guest reads the created resource with the token in the response.
  const { order_token, checkout_token } = json
  const headers = {
    ...route.request.headers,
    ...(order_token && { 'x-order-token': order_token }),
    ...(checkout_token && { 'x-checkout-token': checkout_token })
  }
  const read = await world.request('GET', location, optionsOf({ ...route.request, headers, body: undefined }))
  return read.status === 200 ? [] : [`${route.name} made ${location}: ${brief(read)}`]
}

async function replayProblems(
  session: ContractSession,
  route: ReadyOperation,
  first: TestResponse
): Promise<string[]> {
  const { request, name } = route
  const second = await send(session, route, request)
  if (ENDS_OWN_SESSION.has(name)) return second.status === 401 ? [] : [`${name} repeated: ${brief(second)}`]
  const isSame = second.status === first.status && second.text === first.text
  const other = { ...request, headers: { ...request.headers, 'if-match': '*' } }
  const reused = await send(session, route, other)
  return [
    ...(isSame && second.headers['idempotency-replayed'] === 'true'
      ? []
      : [`${name} repeated: ${brief(second)}`]),
    ...(reused.status === 422 ? [] : [`${name}, the key with another request: ${brief(reused)}`])
  ]
}

/** Lists operations with optional fields only that treat a missing body differently from `{}`. */
export async function findBodyProblems(session: ContractSession): Promise<string[]> {
  const wrong: string[] = []
  for (const route of session.ready.filter(session.contract.isOptional)) {
    const outcomes: string[] = []
    for (const body of [undefined, {}]) {
      const { request } = await withNewRequest(session, route)
      const { status, json } = await send(session, route, { ...request, body })
      outcomes.push(`${status} ${status < 300 ? '' : json.code}`)
    }
    if (outcomes[0] !== outcomes[1] || outcomes[0]?.includes('VALIDATION_FAILED'))
      wrong.push(`${route.name}: ${outcomes.join(', with {} ')}`)
  }
  return wrong
}

/** Performs each operation with a key, then replays it `replays` times to clients that hang up. Lists the effects of the replays. */
export async function findHangUpEffects(session: ContractSession, replays: number): Promise<string[]> {
  const { world, contract, ready } = session
  const origin = await world.listen()
  const wrong: string[] = []
  const performed: ReadyOperation[] = []
  /** Operations whose replay writes an audit entry before the response is sent. */
  const noted = new Set<ReadyOperation>()
  for (const route of ready.filter(contract.isKeyed)) {
    const prepared = await withNewRequest(session, route)
    const keyed = { ...prepared, request: withKey(prepared.request) }
    const first = await send(session, keyed, keyed.request)
    if (first.status >= 300) wrong.push(`${route.name}: ${brief(first)}`)
    performed.push(keyed)
    if (route.tier === 'admin' && contract.isReplayed(route, first.status)) noted.add(keyed)
  }
  await postponeJobs(world)
  let before = await effectsOf(world)
  // Compares again after the last request, because an earlier one may change a row late.
  for (const route of [...performed, undefined]) {
    if (route !== undefined) await replayAndHangUp(origin, route, replays)
    if (route !== undefined && noted.has(route)) await hangUpInsideReplay(world, origin, route)
    const after = await effectsOf(world)
    const changed = Object.keys(after).filter(name => after[name] !== before[name])
    const unexpected = changed.filter(name => !CHANGED_BY_LOGINS.has(name))
    if (unexpected.length > 0) wrong.push(`${route?.name ?? 'after all'} changed ${unexpected.join(', ')}`)
    before = after
  }
  return wrong
}

const brief = ({ status, json, text }: TestResponse) =>
  `${status} ${json?.code ?? ''} ${JSON.stringify(json?.errors ?? '')} ${text.slice(0, 100)}`

/** All but what names the request. */
const withoutNames = ({ status, json }: TestResponse) =>
  `${status} ${JSON.stringify({ ...json, request_id: '', instance: '' })}`
