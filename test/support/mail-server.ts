import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'

/** `recipient` is that of the envelope. */
type Taken = Email & { raw: string; recipient: string }
/** A failure of the server: a reply code, a connection that closes before or after the mail is accepted, or no reply. */
export type MailFailure =
  | { at: 'rcpt' | 'data'; code: number; text: string }
  | { at: 'data'; drop: 'before' | 'after' }
  | { at: 'data'; hang: true }

/** Starts a mail server, by default on a free port. The caller closes it. `next` returns the failure of the next mail. */
export async function openMailServer({
  port = 0,
  next
}: {
  port?: number
  next?: () => MailFailure | undefined
}) {
  const taken: Taken[] = []
  /** Failures of the next mails, in order. */
  const failures: MailFailure[] = []
  /** Sessions whose mail gets no reply. */
  const hanging = new Set<string>()
  const nextFailure = (at: MailFailure['at']): MailFailure | undefined => {
    const scripted = failures.length === 0 && at === 'data' ? next?.() : undefined
    if (scripted !== undefined) return scripted
    return failures[0]?.at === at ? failures.shift() : undefined
  }
  const smtpError = ({ code, text }: { code: number; text: string }) =>
    Object.assign(new Error(text), { responseCode: code })
  const hangUp = (session?: SMTPServerSession) => {
    for (const connection of server.connections)
      if (session === undefined || connection.session.id === session.id) connection._socket.destroy()
  }

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onRcptTo: (_address, _session, done) => {
      const failure = nextFailure('rcpt')
      done(failure !== undefined && 'code' in failure ? smtpError(failure) : null)
    },
    onClose: ({ id }) => {
      hanging.delete(id)
    },
    onData: (stream, session, done) => {
      buffer(stream).then(async raw => {
        const failure = nextFailure('data')
        if (failure !== undefined && 'hang' in failure) {
          hanging.add(session.id)
          return
        }
        if (failure !== undefined && 'code' in failure) return done(smtpError(failure))
        if (failure !== undefined && failure.drop === 'before') return hangUp(session)
        const [to] = session.envelope.rcptTo
        const recipient = to?.address ?? ''
        taken.push({ ...(await PostalMime.parse(raw)), raw: raw.toString('latin1'), recipient })
        if (failure === undefined) done(null)
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
    /** Accepted mails, in order. */
    taken,
    failures,
    hanging: () => hanging.size,
    /** Closes all connections. */
    hangUp: () => hangUp(),
    close: async () => {
      hangUp()
      await new Promise<void>(resolve => server.close(resolve))
    }
  }
}
export type MailServer = Awaited<ReturnType<typeof openMailServer>>
