import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { onTestFinished } from 'vitest'

/** `recipient`: of the envelope. */
type Taken = Email & { raw: string; recipient: string }
/** What a server does in the place of taking a mail. `drop`: its connection ends, before or after it has taken the mail. */
export type Mischief =
  | { at: 'rcpt' | 'data'; code: number; says: string }
  | { at: 'data'; drop: 'before' | 'after' }
  | { at: 'data'; hang: true }

/** A server for mails on any free port, for one test. */
export async function useMailServer(port = 0) {
  const taken: Taken[] = []
  const mischief: Mischief[] = []
  /** Connections that a mail hangs in. */
  let hanging = 0
  const next = (at: Mischief['at']) => (mischief[0]?.at === at ? mischief.shift() : undefined)
  const refuse = ({ code, says }: { code: number; says: string }) =>
    Object.assign(new Error(says), { responseCode: code })
  const dropOf = (session: SMTPServerSession) => {
    for (const connection of server.connections)
      if (connection.session.id === session.id) connection._socket.destroy()
  }

  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], logger: false, hideSMTPUTF8: false },
    onRcptTo: (_address, _session, done) => {
      const evil = next('rcpt')
      done(evil !== undefined && 'code' in evil ? refuse(evil) : null)
    },
    onData: (stream, session, done) => {
      buffer(stream).then(async raw => {
        const evil = next('data')
        if (evil !== undefined && 'hang' in evil) {
          hanging += 1
          return
        }
        if (evil !== undefined && 'code' in evil) return done(refuse(evil))
        if (evil !== undefined && evil.drop === 'before') return dropOf(session)
        const [to] = session.envelope.rcptTo
        taken.push({
          ...(await PostalMime.parse(raw)),
          raw: raw.toString('latin1'),
          recipient: to?.address ?? ''
        })
        if (evil === undefined) done(null)
        else dropOf(session)
      }, done)
    }
  })
  server.on('error', () => {})
  const listening = Promise.withResolvers<void>()
  server.listen(port, '127.0.0.1', listening.resolve)
  await listening.promise
  onTestFinished(async () => {
    for (const connection of server.connections) connection._socket.destroy()
    await new Promise<void>(resolve => server.close(resolve))
  })
  const address = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    /** Those that it has taken, in their order. */
    taken,
    /** What it does to the next mails, one after the other. */
    mischief,
    hanging: () => hanging,
    /** Ends the connections that mails hang in. */
    hangUp: () => {
      for (const connection of server.connections) connection._socket.destroy()
    }
  }
}
