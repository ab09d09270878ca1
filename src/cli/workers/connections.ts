import cluster, { type Worker } from 'node:cluster'

/** The message by which Node hands a connection to a worker. Node's types do not declare it. */
type Handover = { act?: string; seq: number }
type Send = (message: Handover, connection: { close(): void }) => boolean
/** A child process whose `send` takes such messages. */
type Receiver = Omit<Worker['process'], 'send'> & { send: Send }

/**
 * Hands connections that this worker has not taken when it ends to another one. Node would keep them open without an answer:
 * one for each worker that hangs or is killed.
 */
export function passOnConnections(worker: Worker): void {
  const child = receiverOf(worker)
  const untaken = new Map<number, Parameters<Send>>()
  const send = child.send.bind(child)
  child.send = (...given) => {
    if (given[0].act === 'newconn') untaken.set(given[0].seq, given)
    return send(...given)
  }
  child.on('internalMessage', ({ ack }: { ack?: number }) => {
    if (ack !== undefined) untaken.delete(ack)
  })
  worker.once('exit', () => {
    const other = Object.values(cluster.workers ?? {}).find(each => each !== worker && each?.isConnected())
    for (const [message, connection] of untaken.values()) {
      if (other === undefined) connection.close()
      else receiverOf(other).send(message, connection)
    }
  })
}

const receiverOf = (worker: Worker) => worker.process as unknown as Receiver
