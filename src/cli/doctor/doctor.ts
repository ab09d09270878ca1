import { setupShop } from '../../app.ts'
import { loadConfig } from '../../config.ts'
import type { Config } from '../../config-schema.ts'
import { type Diagnosis, type Finding, ok, wrong } from '../../kernel/diagnosis.ts'
import { OperatorError } from '../../kernel/errors.ts'
import { isEnabled, type Module } from '../../module.ts'
import { createHttpClient } from '../../platform/http/client.ts'
import { openLog } from '../../platform/log.ts'
import { openPlatform } from '../../platform/platform.ts'
import { connectToServer, hangUp } from '../../platform/postgres/connect.ts'
import { openConfiguredDatabase } from '../database.ts'
import { databaseChecks, isNew, localChecks } from './checks.ts'

const ASK_MS_MAX = 10_000
/** An embedded database that was killed is recovered first. */
const OPEN_MS_MAX = 60_000
const ATTACH_MS_MAX = 15_000
const MARKS = { ok: 'ok     ', warning: 'warning', wrong: 'WRONG  ' } as const

type Found = Finding & { about: string }

/**
 * Asks all that a shop needs whether it is as it should be, and prints what was found: exit code 1 when something is wrong.
 * Nothing is changed but that an embedded database is started, where no shop runs.
 */
export async function examine(modules: readonly Module[], { json }: { json: boolean }): Promise<void> {
  const findings: Found[] = []
  for await (const found of diagnose(modules)) {
    findings.push(found)
    if (!json) process.stdout.write(lineOf(found))
  }
  const isWrong = findings.some(({ state }) => state === 'wrong')
  if (json) process.stdout.write(`${JSON.stringify({ ok: !isWrong, findings })}\n`)
  else process.stdout.write(isWrong ? '\nSomething is wrong.\n' : '\nNothing is wrong.\n')
  // Whatever still hangs is not waited for.
  process.exit(isWrong ? 1 : 0)
}

/** What is found, as it is found. Of a folder that another process holds, its database has `attachMsMax` to answer. */
export async function* diagnose(
  modules: readonly Module[],
  environment?: Readonly<Record<string, string | undefined>>,
  attachMsMax = ATTACH_MS_MAX
): AsyncGenerator<Found> {
  let config: Config
  try {
    config = loadConfig(modules, environment)
  } catch (error) {
    yield { about: 'configuration', ...failed(error) }
    return
  }
  yield { about: 'configuration', ...judgeModules(modules, config) }
  let isRight = true
  const noted = (found: Found): Found => {
    isRight &&= found.state !== 'wrong'
    return found
  }
  for (const check of localChecks(config)) yield noted(await answerOf(check))
  const world = { config, http: createHttpClient({ privateHosts: config.http.private_hosts }) }
  const sections = config as unknown as Readonly<Record<string, object>>
  for (const module of modules.filter(each => isEnabled(each, config.modules)))
    for (const check of module.diagnose?.((sections[module.name] ?? {}) as never, world) ?? [])
      yield noted(await answerOf(check))
  if (isNew(config)) yield { about: 'database', ...ok('comes along; the first start makes it') }
  else yield* databaseFindings(modules, config, { attachMsMax, isRight })
}

async function* databaseFindings(
  modules: readonly Module[],
  config: Config,
  { attachMsMax, isRight }: { attachMsMax: number; isRight: boolean }
): AsyncGenerator<Found> {
  const opening = openConfiguredDatabase(config, 'attach', attachMsMax)
  const about = 'database'
  const opened = await within(OPEN_MS_MAX, async () => {
    await hangUp(await connectToServer({ connectionString: (await opening).url }))
    return ok(config.database.url === '' ? 'comes along' : 'the one of DATABASE_URL')
  })
  yield { about, ...opened }
  if (opened.state !== 'ok') {
    // One that opens later is not left behind.
    opening.then(
      ({ stop }) => stop(),
      () => {}
    )
    return
  }
  const { url, stop } = await opening
  try {
    let isReady = isRight
    for (const check of databaseChecks(config, url, modules)) {
      const found = await answerOf(check)
      isReady &&= found.state === 'ok'
      yield found
    }
    if (isReady) yield* dataFindings(modules, config, url)
  } finally {
    await stop()
  }
}

/** What modules find in the stored data. Needs a right configuration and a schema that is up to date. */
async function* dataFindings(
  modules: readonly Module[],
  config: Config,
  databaseUrl: string
): AsyncGenerator<Found> {
  // The diagnostics port belongs to the server, which may be running.
  const ours = { ...config, server: { ...config.server, diagnostics_port: 0 } }
  const platform = await openPlatform(ours, databaseUrl, openLog({ level: 'silent' }))
  try {
    const { diagnoses, stop } = await setupShop(platform, modules)
    try {
      for (const check of diagnoses) yield await answerOf(check)
    } finally {
      await stop()
    }
  } catch (error) {
    yield { about: 'modules', ...failed(error) }
  } finally {
    await platform.close()
  }
}

function judgeModules(modules: readonly Module[], { modules: switches }: Config): Finding {
  const off = modules.filter(module => !isEnabled(module, switches)).map(({ name }) => name)
  return off.length === 0 ? ok('right') : ok(`right; off: ${off.join(', ')}`)
}

const answerOf = async ({ about, find }: Diagnosis): Promise<Found> => ({
  about,
  ...(await within(ASK_MS_MAX, find))
})

async function within(milliseconds: number, find: Diagnosis['find']): Promise<Finding> {
  const { promise: late, resolve } = Promise.withResolvers<Finding>()
  const silence = wrong(
    `no answer within ${milliseconds / 1_000} s`,
    'Something takes what is asked and says nothing: a process that hangs, or a firewall in between.'
  )
  const timer = setTimeout(resolve, milliseconds, silence)
  try {
    return await Promise.race([Promise.try(find).catch(failed), late])
  } finally {
    clearTimeout(timer)
  }
}

/** What an operator can mend says how itself. */
const failed = (error: unknown): Finding => ({
  state: 'wrong',
  detail: (error as Error).message,
  ...(!(error instanceof OperatorError) && {
    advice: 'See that what it needs is there, and that this user may use it.'
  })
})

const lineOf = ({ about, state, detail, advice }: Found) =>
  `${MARKS[state]}  ${about}: ${detail}\n${advice === undefined ? '' : `         ${advice}\n`}`
