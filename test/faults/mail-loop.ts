import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type MailFailure, type MailServer, openMailServer } from '../support/mail-server.ts'
import { fixedPort } from './fixed-port.ts'
import { until } from './until.ts'
import { createVictim, type Victim } from './victim.ts'

const DONE_MS_MAX = 1_800_000
/** Of a hundred mails, how many are rejected temporarily, and how many lose their connection before or after acceptance. */
const REJECTED_PERCENT = 2
const DROPPED_PERCENT = 2

type MailReport = {
  events: number
  kills: number
  restarts: number
  /** Mails that the server accepted, including repeated ones. */
  accepted: number
  repeated: number
  messageIds: number
  seconds: number
  /** The broken guarantees. */
  wrong: string[]
}

function nextFailure(): MailFailure | undefined {
  const dice = randomInt(100)
  if (dice < REJECTED_PERCENT) return { at: 'data', code: 451, text: '4.3.0 try again later' }
  if (dice < REJECTED_PERCENT + DROPPED_PERCENT) return { at: 'data', drop: 'before' }
  if (dice < REJECTED_PERCENT + 2 * DROPPED_PERCENT) return { at: 'data', drop: 'after' }
  return undefined
}

/** Inserts the jobs of `events` password changes. */
const insertPasswordChanges = (events: number) => `
  with people as (
    insert into auth.users (id, email, name, role)
    select gen_random_uuid(), 'person' || n || '@example.com', 'Person ' || n, 'customer'
    from generate_series(1, ${events}) as n
    returning id
  )
  insert into cartwright.jobs (handler, subject, event_id, payload)
  select 'notifications:auth.password_changed', id, gen_random_uuid(), jsonb_build_object('user_id', id) from people`
/** Ends the leases of the killed process. Jobs of others may run twice then, which must have no effect. */
const END_LEASES = `
  update cartwright.jobs set due_at = now(), lease = null where handler like 'notifications%' and lease is not null`
const MAKE_MESSAGES_DUE = `
  update cartwright.jobs set due_at = now() where handler = 'notifications.send_message' and lease is null and due_at > now()`
const COUNT_LEFT = `
  select (select count(*)::int from cartwright.jobs where handler like 'notifications%') as jobs,
    (select count(*)::int from notifications.messages where status = 'pending') as pending`
const MESSAGES =
  'select count(*)::int as messages, count(distinct recipient)::int as recipients from notifications.messages'

/**
 * Each event results in exactly one mail while the sending process is killed. Meanwhile the mail server stops, rejects
 * mails or accepts them without a response.
 */
async function mailLoop(events: number, kills: number, log: (line: string) => void): Promise<MailReport> {
  const port = await fixedPort()
  const servers: MailServer[] = []
  const openServer = async () => {
    servers.push(await openMailServer({ port, next: nextFailure }))
  }
  const taken = () => servers.flatMap(server => server.taken)
  const victim = await createVictim({
    CARTWRIGHT__NOTIFICATIONS__SMTP__URL: `smtp://127.0.0.1:${port}`,
    CARTWRIGHT__NOTIFICATIONS__SMTP__CONNECTIONS: '4',
    CARTWRIGHT__NOTIFICATIONS__FROM: 'shop@shop.example',
    CARTWRIGHT__SHOP__DEMO: 'off',
    CARTWRIGHT__LOG__LEVEL: 'error'
  })
  const startedAt = performance.now()
  const report = { events, kills: 0, restarts: 0 }
  try {
    await openServer()
    await victim.start()
    await victim.sql(insertPasswordChanges(events))
    while (report.kills + report.restarts < kills) {
      const enough = taken().length + randomInt(1, Math.max(2, Math.floor((2 * events) / (kills + 1))))
      const areEnoughAccepted = () => taken().length >= enough || taken().length >= events
      await until('the mail server has accepted enough mails', areEnoughAccepted, DONE_MS_MAX)
      if (report.kills <= report.restarts) report.kills += await kill(victim)
      else {
        await servers.at(-1)?.close()
        await delay(randomInt(500))
        await openServer()
        report.restarts += 1
      }
      log(
        `${report.kills} kills, ${report.restarts} restarts of the mail server, ${taken().length} mails accepted`
      )
    }
    await until('every mail is sent', () => areMailsSent(victim), DONE_MS_MAX)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    return { ...report, seconds, ...(await checkMails(victim, taken(), events)) }
  } finally {
    await servers.at(-1)?.close()
    await victim.remove()
  }
}

async function kill(victim: Victim): Promise<number> {
  await victim.killProcess()
  await victim.start()
  await victim.sql(END_LEASES)
  return 1
}

async function areMailsSent(victim: Victim): Promise<boolean> {
  await victim.sql(MAKE_MESSAGES_DUE)
  await delay(500)
  const [left] = await victim.sql(COUNT_LEFT)
  return left?.jobs === 0 && left.pending === 0
}

async function checkMails(victim: Victim, taken: MailServer['taken'], events: number) {
  const idsOf = Map.groupBy(taken, ({ recipient }) => recipient)
  const idsOfAll = new Set(taken.map(({ messageId }) => messageId))
  const severalIds = [...idsOf].filter(([, mails]) => new Set(mails.map(each => each.messageId)).size !== 1)
  const [row] = await victim.sql(MESSAGES)
  const wrong = [
    ...(idsOf.size === events ? [] : [`${events - idsOf.size} got no mail`]),
    ...severalIds.map(([recipient]) => `${recipient} has mails of several ids`),
    ...(idsOfAll.size === events ? [] : [`there are ${idsOfAll.size} ids`]),
    ...(row?.messages === events && row.recipients === events ? [] : [`there are ${row?.messages} messages`])
  ]
  return {
    accepted: taken.length,
    repeated: taken.length - idsOfAll.size,
    messageIds: idsOfAll.size,
    wrong
  }
}

// By hand: `npm run faults:mail -- 10000 40`.
const [events = '10000', kills = '40'] = process.argv.slice(2)
const report = await mailLoop(Number(events), Number(kills), line => process.stdout.write(`${line}\n`))
process.stdout.write(`${JSON.stringify(report)}\n`)
process.exit(report.wrong.length === 0 ? 0 : 1)
