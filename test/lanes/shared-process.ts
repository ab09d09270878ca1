import { afterAll, expect, vi } from 'vitest'

// Runs before each test file of a lane whose files share a process, because the next file would see leftover state.

const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'warning'] as const

const stateOf = () => ({
  'environment variables': JSON.stringify(Object.entries(process.env).sort()),
  'working directory': process.cwd(),
  'listeners of the process': EVENTS.map(event => `${event} ${process.listenerCount(event)}`).join(', '),
  'fake timers': vi.isFakeTimers()
})

const before = stateOf()
afterAll(() => {
  expect(
    stateOf(),
    'this file changes its process, which it shares: undo that in onTestFinished, or declare "// Lane alone: <reason>"'
  ).toEqual(before)
})
