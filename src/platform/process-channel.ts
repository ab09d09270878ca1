import { OperatorError } from '../kernel/errors.ts'

/** Functions that one side of a channel offers to the other, by name. Arguments and results are JSON. */
export type ChannelCalls = Record<string, (body: never) => unknown>
type BodyOf<F> = F extends (body: infer B) => unknown ? B : never
type ResultOf<F> = F extends (body: never) => infer R ? Awaited<R> : never

/** A process with an IPC channel: `process` in a child, the child in its parent. */
export type ChannelEnd = {
  send?(message: object, ignored: undefined, options: object, onSent: (error: Error | null) => void): boolean
  on(event: 'message', listener: (message: unknown) => void): unknown
  once(event: 'disconnect', listener: () => void): unknown
}
type Message =
  | { call: string; id: number; body: unknown }
  | { answered: number; result: unknown }
  | { failed: number; message: string; isForOperator: boolean }

/**
 * Connects two processes by the IPC channel between them. Offers `own` to the other process, and returns a function that calls
 * what the other process offers. An OperatorError stays one on the other side. Calls reject when the channel closes.
 */
export function openProcessChannel<Other extends ChannelCalls>(end: ChannelEnd, own: ChannelCalls) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let calls = 0
  const send = (message: Message): Promise<void> =>
    new Promise((resolve, reject) => {
      const onSent = (error: Error | null) => (error === null ? resolve() : reject(error))
      if (end.send === undefined) reject(new Error('The process has no channel.'))
      else end.send(message, undefined, {}, onSent)
    })
  const answer = async ({ call, id, body }: Extract<Message, { call: string }>) => {
    try {
      const result = await own[call]?.(body as never)
      await send({ answered: id, result })
    } catch (error) {
      const { message } = error as Error
      // The other process may be gone, and then nothing waits for the answer.
      await send({ failed: id, message, isForOperator: error instanceof OperatorError }).catch(() => {})
    }
  }
  end.on('message', given => {
    const message = given as Message
    if ('call' in message) void answer(message)
    else if ('answered' in message) take(message.answered)?.resolve(message.result)
    else if ('failed' in message)
      take(message.failed)?.reject(
        message.isForOperator ? new OperatorError(message.message) : new Error(message.message)
      )
  })
  end.once('disconnect', () => {
    for (const { reject } of waiting.values()) reject(new Error('The process is gone.'))
    waiting.clear()
  })
  const take = (id: number) => {
    const found = waiting.get(id)
    waiting.delete(id)
    return found
  }

  return function call<N extends keyof Other & string>(
    name: N,
    body: BodyOf<Other[N]>
  ): Promise<ResultOf<Other[N]>> {
    calls += 1
    const id = calls
    const answered = Promise.withResolvers<unknown>()
    waiting.set(id, answered)
    send({ call: name, id, body }).catch(error => take(id)?.reject(error))
    return answered.promise as Promise<ResultOf<Other[N]>>
  }
}
