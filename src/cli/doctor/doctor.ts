import { setUpShopModules } from '../../app.ts'
import { loadConfig } from '../../config.ts'
import {
  type DiagnosisCheck,
  type DiagnosisFinding,
  errorDiagnosisFinding,
  okDiagnosisFinding
} from '../../kernel/diagnosis.ts'
import { OperatorError } from '../../kernel/errors.ts'
import { isModuleEnabled, type Module } from '../../module.ts'
import type { Config } from '../../platform/core-settings.ts'
import { createHttpClient } from '../../platform/http/client.ts'
import { openLog } from '../../platform/log.ts'
import { databaseHostsOf, openPlatform } from '../../platform/platform.ts'
import { closePgClient } from '../../platform/postgres/clients.ts'
import { openUnpooledPgClient } from '../../platform/postgres/connect.ts'
import { openConfiguredDatabase } from '../database.ts'
import { checksWithDatabase, checksWithoutDatabase, isFirstStart } from './checks.ts'

const ASK_MS_MAX = 10_000
/** Long, because an embedded database that was killed first recovers. */
const OPEN_MS_MAX = 60_000
const ATTACH_MS_MAX = 15_000
const MARKS = { ok: 'ok     ', warning: 'warning', wrong: 'WRONG  ' } as const

type Found = DiagnosisFinding & { about: string }

/**
 * Runs all checks of the installation and prints the findings. Exit code 1 when one is wrong. Changes nothing, except that it
 * starts the embedded database when no shop runs.
 */
export async function runDiagnoses(modules: readonly Module[], { json }: { json: boolean }): Promise<void> {
  const findings: Found[] = []
  for await (const found of diagnose(modules)) {
    findings.push(found)
    if (!json) process.stdout.write(lineOf(found))
  }
  const isWrong = findings.some(({ state }) => state === 'wrong')
  if (json) process.stdout.write(`${JSON.stringify({ ok: !isWrong, findings })}\n`)
  else process.stdout.write(isWrong ? '\nProblems found.\n' : '\nNo problems found.\n')
  // Exits explicitly, because a check that timed out may still hang.
  process.exit(isWrong ? 1 : 0)
}

/** Yields each finding as soon as it is known. `attachMsMax`: the wait for the database of another process on the data folder. */
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
  for (const check of checksWithoutDatabase(config)) yield noted(await answerOf(check))
  const world = { config, http: createHttpClient({ privateHosts: config.http.private_hosts }) }
  const sections = config as unknown as Readonly<Record<string, object>>
  for (const module of modules.filter(each => isModuleEnabled(each, config.modules)))
    for (const check of module.diagnose?.((sections[module.name] ?? {}) as never, world) ?? [])
      yield noted(await answerOf(check))
  if (isFirstStart(config))
    yield { about: 'database', ...okDiagnosisFinding('embedded; the first start creates it') }
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
    await closePgClient(await openUnpooledPgClient({ hosts: databaseHostsOf(config, (await opening).url) }))
    return okDiagnosisFinding(config.database.url === '' ? 'embedded' : 'set by DATABASE_URL')
  })
  yield { about, ...opened }
  if (opened.state !== 'ok') {
    // The database may still open after the timeout. Then it is stopped.
    opening.then(
      ({ stop }) => stop(),
      () => {}
    )
    return
  }
  const { url, stop } = await opening
  try {
    let isReady = isRight
    for (const check of checksWithDatabase(config, url, modules)) {
      const found = await answerOf(check)
      isReady &&= found.state === 'ok'
      yield found
    }
    if (isReady) yield* dataFindings(modules, config, url)
  } finally {
    await stop()
  }
}

/** Yields the findings of modules about the stored data. Needs a valid configuration and an up-to-date schema. */
async function* dataFindings(
  modules: readonly Module[],
  config: Config,
  databaseUrl: string
): AsyncGenerator<Found> {
  const { auth } = config as { auth?: object }
  const ours = {
    ...config,
    // A running server may already listen on the diagnostics port, and only its start creates the first administrator.
    server: { ...config.server, diagnostics_port: 0 },
    ...(auth && { auth: { ...auth, admin_email: '' } })
  }
  const platform = await openPlatform(ours, databaseUrl, openLog({ level: 'silent' }))
  try {
    const { diagnoses, stop } = await setUpShopModules(platform, modules)
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

function judgeModules(modules: readonly Module[], { modules: switches }: Config): DiagnosisFinding {
  const off = modules.filter(module => !isModuleEnabled(module, switches)).map(({ name }) => name)
  return off.length === 0
    ? okDiagnosisFinding('right')
    : okDiagnosisFinding(`valid; disabled: ${off.join(', ')}`)
}

const answerOf = async ({ about, find }: DiagnosisCheck): Promise<Found> => ({
  about,
  ...(await within(ASK_MS_MAX, find))
})

async function within(milliseconds: number, find: DiagnosisCheck['find']): Promise<DiagnosisFinding> {
  const { promise: late, resolve } = Promise.withResolvers<DiagnosisFinding>()
  const silence = errorDiagnosisFinding(
    `no response within ${milliseconds / 1_000} s`,
    'The connection is accepted, but nothing responds: a process hangs, or a firewall drops packets.'
  )
  const timer = setTimeout(resolve, milliseconds, silence)
  try {
    return await Promise.race([Promise.try(find).catch(failed), late])
  } finally {
    clearTimeout(timer)
  }
}

/** An OperatorError says itself how to fix the problem, so it needs no advice. */
const failed = (error: unknown): DiagnosisFinding => ({
  state: 'wrong',
  detail: (error as Error).message,
  ...(!(error instanceof OperatorError) && {
    advice: 'Check that it exists and that this user may access it.'
  })
})

const lineOf = ({ about, state, detail, advice }: Found) =>
  `${MARKS[state]}  ${about}: ${detail}\n${advice === undefined ? '' : `         ${advice}\n`}`
