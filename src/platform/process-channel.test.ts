import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { OperatorError } from '../kernel/errors.ts'
import { type ChannelEnd, openProcessChannel } from './process-channel.ts'

type Calls = {
  double(n: number): number
  fail(body: null): void
  refuse(body: null): void
  wait(body: null): void
}

/** Both ends of a channel, which send messages as JSON, as the channel of a child process does. */
function useEnds() {
  const [one, other] = [new EventEmitter(), new EventEmitter()]
  const endOf = (own: EventEmitter, to: EventEmitter): ChannelEnd & EventEmitter =>
    Object.assign(own, {
      send: (message: object, _ignored: undefined, _options: object, onSent: (error: null) => void) => {
        const text = JSON.stringify(message)
        setImmediate(() => {
          onSent(null)
          to.emit('message', JSON.parse(text))
        })
        return true
      }
    })
  return { one: endOf(one, other), other: endOf(other, one) }
}

function useChannel() {
  const { one, other } = useEnds()
  openProcessChannel(other, {
    double: (n: number) => 2 * n,
    fail: () => {
      throw new Error('a bug')
    },
    refuse: async () => {
      throw new OperatorError('The port is in use.')
    },
    wait: () => new Promise(() => {})
  })
  return { one, call: openProcessChannel<Calls>(one, {}) }
}

test('calls over a process channel return the result of the function with their name', async () => {
  const { call } = useChannel()
  expect(await Promise.all([1, 2, 3].map(n => call('double', n)))).toEqual([2, 4, 6])
})

test('an error crosses a process channel with its message, and an OperatorError stays one', async () => {
  const { call } = useChannel()
  const bug = await call('fail', null).catch((error: unknown) => error)
  expect(bug).toEqual(new Error('a bug'))
  expect(bug).not.toBeInstanceOf(OperatorError)
  await expect(call('refuse', null)).rejects.toBeInstanceOf(OperatorError)
  await expect(call('refuse', null)).rejects.toThrow('The port is in use.')
})

test('a call over a process channel rejects when the other process ends', async () => {
  const { one, call } = useChannel()
  const waiting = call('wait', null)
  one.emit('disconnect')
  await expect(waiting).rejects.toThrow('The process is gone.')
})
