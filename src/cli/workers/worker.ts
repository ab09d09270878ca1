import { loadConfig } from '../../config.ts'
import type { Module } from '../../module.ts'
import { openProcessChannel } from '../../platform/process-channel.ts'
import type { MeasurableWorker, WorkerLink, WorkerMeasurements } from '../../platform/worker-link.ts'
import type { RunningDatabase } from '../database.ts'
import { loadShopCode, tuneGarbageCollection } from '../shop-process.ts'
import { createStopOnce, FORCED_EXIT_MS } from '../stop-signal.ts'
import type { PrimaryCalls, WorkerCalls, WorkerIntroduction } from './calls.ts'

const BEAT_MS = 250

/** Runs one worker, which the primary process started and stops. It ends with the primary process, however that ends. */
export async function startWorker(loadModules: () => Promise<readonly Module[]>): Promise<void> {
  // A terminal and some supervisors signal every process. The primary process stops the workers in order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  let stopWorker = (_isReplaced: boolean): void => process.exit(0)
  let measurable: MeasurableWorker | undefined
  const measure = async (): Promise<WorkerMeasurements> => {
    if (measurable === undefined) throw new Error('The worker is starting.')
    return {
      metrics: await measurable.collect(),
      pool: measurable.statistics(),
      replica: measurable.replicaStatistics()
    }
  }
  const calls: WorkerCalls = { stop: ({ isReplaced }) => stopWorker(isReplaced), measure }
  const call = openProcessChannel<PrimaryCalls>(process, calls)
  const introduced = call('introduce', null)

  const { openShop } = await loadShopCode()
  const modules = await loadModules()
  const { formatWelcome } = await import('../first-start.ts')
  const config = loadConfig(modules)
  const { isFirst, ...introduction } = await introduced
  const open = async (): Promise<RunningDatabase> => {
    const stop = async () => {}
    if (config.database.url !== '') return { url: config.database.url, embedded: false, stop }
    return { url: await call('openDatabase', { folder: config.data }), embedded: true, stop }
  }
  const worker = linkOf(call, introduction, given => {
    measurable = given
    const beat = () => call('beat', { isOutOfConnections: given.isOutOfConnections() }).catch(() => {})
    setInterval(beat, BEAT_MS).unref()
  })
  const shop = await openShop(modules, config, { open, worker, isFirst })
  const { app, drainMs } = shop

  const begun = shop.begin()
  let isReplaced = false
  const stop = async () => {
    await shop.stop(begun, isReplaced)
    await call('leave', await measure())
  }
  const stopOnce = createStopOnce({ msMax: () => drainMs + FORCED_EXIT_MS, say: () => {} }, stop)
  const retire = () => {
    isReplaced = true
    stopOnce(1)
  }
  stopWorker = given => {
    isReplaced = given
    stopOnce(0)
  }
  process.on('uncaughtException', app.onUncaught(retire))
  const { address, prepared } = await begun
  const welcome = isFirst ? await formatWelcome(app, prepared, config, address, worker.count) : ''
  await call('ready', { config, databaseUrl: shop.databaseUrl, drainMs, welcome })
  tuneGarbageCollection()
}

const linkOf = (
  call: ReturnType<typeof openProcessChannel<PrimaryCalls>>,
  introduction: Omit<WorkerIntroduction, 'isFirst'>,
  measureBy: WorkerLink['measureBy']
): WorkerLink => ({
  ...introduction,
  exchangeBudgetClaims: claims => call('exchangeBudgetClaims', claims),
  exposeMetrics: () => call('exposeMetrics', null),
  poolStatistics: () => call('poolStatistics', null),
  measureBy
})
