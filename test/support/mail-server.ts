import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'

/** `recipient`: of the envelope. */
type Taken = Email & { raw: string; recipient: string }
/** What a server does in the place of taking a mail. `drop`: its connection ends, before or after it has taken the mail. */
export type Mischief =
  | { at: 'rcpt' | 'data'; code: number; says: string }
  | { at: 'data'; drop: 'before' | 'after' }
  | { at: 'data'; hang: true }

/** A server for mails, on any free port when none is named; it has to be closed. `next` says what it does to a mail. */
export async function openMailServer({
  port = 0,
  next
}: {
  port?: number
  next?: () => Mischief | undefined
}) {
  const taken: Taken[] = []
  /** What it does to the next mails, one after the other. */
  const mischief: Mischief[] = []
  /** Connections that a mail hangs in. */
  const hanging = new Set<string>()
  const evilAt = (at: Mischief['at']): Mischief | undefined => {
    const made = mischief.length === 0 && at === 'data' ? next?.() : undefined
    if (made !== undefined) return made
    return mischief[0]?.at === at ? mischief.shift() : undefined
  }
  const refuse = ({ code, says }: { code: number; says: string }) =>
    Object.assign(new Error(says), { responseCode: code })
  const hangUp = (session?: SMTPServerSession) => {
    for (const connection of server.connections)
      if (session === undefined || connection.session.id === session.id) connection._socket.destroy()
  }

  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], logger: false },
    onRcptTo: (_address, _session, done) => {
      const evil = evilAt('rcpt')
      done(evil !== undefined && 'code' in evil ? refuse(evil) : null)
    },
    onClose: ({ id }) => {
      hanging.delete(id)
    },
    onData: (stream, session, done) => {
      buffer(stream).then(async raw => {
        const evil = evilAt('data')
        if (evil !== undefined && 'hang' in evil) {
          hanging.add(session.id)
          return
        }
        if (evil !== undefined && 'code' in evil) return done(refuse(evil))
        if (evil !== undefined && evil.drop === 'before') return hangUp(session)
        const [to] = session.envelope.rcptTo
        const recipient = to?.address ?? ''
        taken.push({ ...(await PostalMime.parse(raw)), raw: raw.toString('latin1'), recipient })
        if (evil === undefined) done(null)
        else hangUp(session)
      }, done)
    }
  })
  server.on('error', () => {})
  server.listen(port, '127.0.0.1')
  await once(server.server, 'listening')
  const address = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    /** Those that it has taken, in their order. */
    taken,
    mischief,
    hanging: () => hanging.size,
    /** Ends all connections. */
    hangUp: () => hangUp(),
    close: async () => {
      hangUp()
      await new Promise<void>(resolve => server.close(resolve))
    }
  }
}
export type MailServer = Awaited<ReturnType<typeof openMailServer>>
