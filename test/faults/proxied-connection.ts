import { connect, type NetConnectOpts, type Socket } from 'node:net'

export type Direction = 'to_server' | 'to_program'
/** The current flow of one direction, for all connections of a proxy. */
export type DirectionFlow = { isHeld: boolean; delayMs: number }
/** How the proxy treats a chunk: it forwards it, resets the connection, or stops forwarding in both directions. */
export type ChunkOutcome = 'pass' | 'reset' | 'lose'
/** `connection` is the same object for all chunks of one connection. */
export type ChunkWatch = (connection: object, direction: Direction, chunk: Buffer) => ChunkOutcome

type Options = {
  flows: Record<Direction, DirectionFlow>
  isHeld: boolean
  change(chunk: Buffer): Buffer
  watch: ChunkWatch
  closed(): void
}

/** One connection through a proxy: the program's half, the server's half, and a pipe each way. */
export class ProxiedConnection {
  readonly #near: Socket
  readonly #far: Socket
  readonly #pipes: Record<Direction, Pipe>
  readonly #options: Options

  constructor(programSocket: Socket, target: NetConnectOpts, options: Options) {
    this.#near = programSocket
    this.#far = connect({ ...target, allowHalfOpen: true })
    this.#options = options
    this.#pipes = {
      to_server: new Pipe(options.flows.to_server, options.isHeld),
      to_program: new Pipe(options.flows.to_program, options.isHeld)
    }
    this.#join(this.#near, this.#far, 'to_server')
    this.#join(this.#far, this.#near, 'to_program')
  }

  reset(): void {
    for (const socket of [this.#near, this.#far]) resetSocket(socket)
  }

  lose(direction?: Direction): void {
    if (direction !== 'to_program') this.#pipes.to_server.isLost = true
    if (direction !== 'to_server') this.#pipes.to_program.isLost = true
  }

  /** Resets a lost connection. */
  sweep(): void {
    if (this.#pipes.to_server.isLost || this.#pipes.to_program.isLost) this.reset()
  }

  halfClose(direction: Direction): void {
    if (direction === 'to_server') this.#far.end()
    else this.#near.end()
    this.lose(direction)
  }

  /** Forwards the held or delayed data. */
  deliver(): void {
    for (const pipe of Object.values(this.#pipes)) pipe.deliver()
  }

  #join(from: Socket, to: Socket, direction: Direction): void {
    const { change, watch, closed } = this.#options
    const pipe = this.#pipes[direction]
    from.on('data', (chunk: Buffer) => {
      const outcome = pipe.isLost ? 'pass' : watch(this, direction, chunk)
      if (outcome === 'reset') this.reset()
      else if (outcome === 'lose') this.lose()
      else pipe.add(() => to.writable && to.write(change(chunk)))
    })
    from.on('end', () => pipe.add(() => to.end()))
    from.on('error', () => {})
    from.on('close', wasBroken => {
      pipe.add(() => (wasBroken ? resetSocket(to) : to.destroySoon()))
      if (to.destroyed) closed()
    })
  }
}

/** One direction: data arrives in order, later or never. */
class Pipe {
  readonly #flow: DirectionFlow
  #steps: { dueAt: number; run: () => void }[] = []
  #timer: NodeJS.Timeout | undefined
  #isHeld: boolean
  isLost = false

  constructor(flow: DirectionFlow, isHeld: boolean) {
    this.#flow = flow
    this.#isHeld = isHeld
  }

  add(run: () => void): void {
    if (this.isLost) return
    this.#steps.push({ dueAt: performance.now() + this.#flow.delayMs, run })
    this.#run()
  }

  deliver(): void {
    this.#isHeld = false
    for (const step of this.#steps) step.dueAt = 0
    this.#run()
  }

  #run(): void {
    clearTimeout(this.#timer)
    while (!this.isLost && !this.#isHeld && !this.#flow.isHeld) {
      const [next] = this.#steps
      if (next === undefined) return
      const waitMs = next.dueAt - performance.now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#run(), waitMs)
        return
      }
      this.#steps.shift()
      next.run()
    }
  }
}

// Unix domain sockets cannot be reset.
function resetSocket(socket: Socket): void {
  if (socket.remotePort === undefined) socket.destroy()
  else socket.resetAndDestroy()
}
