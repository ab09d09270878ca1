import { expect, test } from 'vitest'
import { chimeModule, openEmitter } from '../../../test/support/event-log.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { createMetricRegistry } from '../metrics/registry.ts'
import { diagnoseEventLog } from './diagnosis.ts'
import { createEventLogGauge } from './metrics.ts'
import { createEventLogSequencer } from './sequencer.ts'

const chime = chimeModule()

/** A shop that gives no positions unless the test does, its metric, and its finding. */
async function useLog() {
  const shop = await useShop({ modules: [chime] })
  await shop.platform.outbox.stop()
  const metrics = createMetricRegistry()
  const measure = createEventLogGauge(metrics, shop.db)
  return {
    ...shop,
    ring: async (...nths: number[]) => void (await shop.apiOf(chime)?.ring(nths)),
    sequencer: createEventLogSequencer({ db: shop.db, log: shop.platform.log, waitSeconds: 0 }),
    /** Makes the events of the log older. */
    age: (seconds: number) =>
      shop.sql(`update cartwright.events set occurred_at = occurred_at - make_interval(secs => ${seconds})`),
    oldestSeconds: async () => {
      await measure()
      const [gauge] = metrics.all()
      expect(gauge?.name).toBe('cartwright_event_log_oldest_unpositioned_seconds')
      return gauge?.samples()[0]?.value
    },
    find: () => diagnoseEventLog(shop.db)[0]?.find()
  }
}

test('the age of the oldest event without a position is measured until it has one', async () => {
  const { ring, age, oldestSeconds, sequencer } = await useLog()
  expect(await oldestSeconds()).toBe(0)
  await ring(1)
  await age(90)
  await ring(2)
  const seconds = await oldestSeconds()
  expect(seconds).toBeGreaterThanOrEqual(90)
  expect(seconds).toBeLessThan(150)
  await sequencer.advance()
  expect(await oldestSeconds()).toBe(0)
})

test('an event whose position was skipped counts as one without position when it is committed', async () => {
  const { ring, age, oldestSeconds, sequencer, databaseUrl } = await useLog()
  const emitter = await openEmitter(databaseUrl, 1)
  await ring(2)
  await sequencer.advance()
  expect(await oldestSeconds()).toBe(0)
  await emitter.commit()
  await age(90)
  expect(await oldestSeconds()).toBeGreaterThanOrEqual(90)
  await sequencer.advance()
  expect(await oldestSeconds()).toBe(0)
})

test('doctor reports events that have had no position for 5 minutes, with the age of the oldest', async () => {
  const { ring, age, find } = await useLog()
  await ring(1, 2)
  await age(290)
  expect(await find()).toMatchObject({ state: 'ok' })
  await age(100)
  const finding = await find()
  expect(finding).toMatchObject({ state: 'warning' })
  expect(JSON.stringify(finding)).toMatch(
    /2 events older than 5 minutes have no position, the oldest for 39\d s/
  )
})
