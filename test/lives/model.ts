/**
 * A naive model of the lifecycle of an order: unit by unit, with exact integers, and with no code of the
 * program. It knows the price of each unit, and adds up all credits from the beginning.
 */
export type Thing = { name: string; group: string | null; count: number; price: bigint; tax: bigint }
export type Deed =
  | { do: 'take'; minor: number }
  | { do: 'amount'; minor: number }
  | { do: 'cancel' | 'ship' | 'return' | 'refund'; units: ReadonlyMap<string, number> }
  /** Voids a shipment, by its number from 0. */
  | { do: 'void'; parcel: number }
  | { do: 'place' | 'ask' | 'agree' | 'deny' | 'hold' | 'release' | 'complete' | 'reopen' }

const halfUp = (top: bigint, bottom: bigint) => (bottom === 0n ? 0n : (2n * top + bottom) / (2n * bottom))
const least = (a: bigint, b: bigint) => (a < b ? a : b)
const sum = (list: readonly bigint[]) => list.reduce((all, each) => all + each, 0n)

export function naiveOrder(total: bigint, things: readonly Thing[]) {
  const lines = things.filter(({ count }) => count > 0)
  const none = () => new Map(lines.map(({ name }) => [name, 0]))
  const count = { canceled: none(), sent: none(), returned: none(), refunded: none() }
  const of = (which: keyof typeof count, { name }: Thing) => count[which].get(name) ?? 0
  const gone = (line: Thing) => of('canceled', line) + of('refunded', line)
  const parcels: (ReadonlyMap<string, number> | 'voided')[] = []
  const given = new Map(things.map(({ name }) => [name, 0n]))
  const rest = (thing: Thing) => thing.price - (given.get(thing.name) ?? 0n)
  const credited = () => least(total, sum([...given.values()]))
  const taxGiven = () => things.map(({ name, tax, price }) => halfUp(tax * (given.get(name) ?? 0n), price))
  let [taken, back] = [0n, 0n]
  let state = 'pending'
  let [isAsked, isHeld] = [false, false]

  const give = (thing: Thing, amount: bigint) =>
    given.set(thing.name, (given.get(thing.name) ?? 0n) + least(amount, rest(thing)))

  /** Credits unit by unit: the price of the line with the unit minus the price without it. */
  function giveUnits(line: Thing, from: number, to: number) {
    const [price, all] = [line.price, BigInt(line.count)]
    for (let unit = from; unit < to; unit += 1)
      give(line, halfUp(price * BigInt(unit + 1), all) - halfUp(price * BigInt(unit), all))
  }

  function giveDeliveries() {
    for (const thing of things.filter(each => each.count === 0)) {
      const own = lines.filter(line => thing.group === null || line.group === thing.group)
      if (own.every(line => gone(line) === line.count)) give(thing, rest(thing))
    }
  }

  function giveAmount(amount: bigint) {
    const all = sum(things.map(rest))
    const isAll = amount === total - credited()
    const rests = things.map(rest)
    for (const [index, thing] of things.entries()) {
      const upTo = (end: number) => halfUp(amount * sum(rests.slice(0, end)), all)
      give(thing, isAll ? rest(thing) : upTo(index + 1) - upTo(index))
    }
  }

  /** The refund for all credits of `work`. */
  function credit(work: () => void): void {
    const before = credited()
    work()
    const worth = credited() - before
    const tooMuch = taken - back - (total - credited())
    if (tooMuch > 0n) back += least(worth, tooMuch)
  }

  const open = (line: Thing) => line.count - of('canceled', line) - of('sent', line)
  const isShipped = () => lines.some(line => of('sent', line) > 0)
  const isDone = () => lines.every(line => open(line) === 0)
  const isLive = () => state === 'pending' || state === 'placed'
  const isPlaced = () => state === 'placed' || state === 'completed'

  /** Whether an administrator or the shop can take the action now. */
  function may(deed: Deed): boolean {
    const has = (left: (line: Thing) => number) =>
      'units' in deed && lines.every(line => (deed.units.get(line.name) ?? 0) <= left(line))
    switch (deed.do) {
      case 'take':
        return state !== 'canceled'
      case 'place':
        return state === 'pending'
      case 'ask':
        return isLive() && !isAsked && !isShipped()
      case 'agree':
        return isLive() && isAsked
      case 'deny':
        return isLive() && isAsked
      case 'cancel':
        return isLive() && !isAsked && has(open)
      case 'ship':
        return state === 'placed' && !isAsked && !isHeld && has(open)
      case 'return':
        return isPlaced() && !isAsked && has(line => of('sent', line) - of('returned', line))
      case 'void': {
        const parcel = parcels[deed.parcel]
        if (parcel === undefined || parcel === 'voided' || !isPlaced() || isAsked) return false
        // Returned or refunded units must be in one of the other shipments.
        return lines.every(line => {
          const inOthers = of('sent', line) - (parcel.get(line.name) ?? 0)
          return !parcel.has(line.name) || inOthers >= Math.max(of('returned', line), of('refunded', line))
        })
      }
      case 'refund':
        return isPlaced() && !isAsked && has(line => of('sent', line) - of('refunded', line))
      case 'amount':
        return isPlaced() && !isAsked
      case 'hold':
        return isLive() && !isAsked && !isHeld
      case 'release':
        return isLive() && !isAsked && isHeld
      case 'complete':
        return state === 'placed' && !isAsked && !isHeld && isDone()
      default:
        return state === 'completed' && !isAsked
    }
  }

  function act(deed: Deed): void {
    const add = (which: keyof typeof count, units: ReadonlyMap<string, number>) => {
      for (const [name, many] of units) count[which].set(name, (count[which].get(name) ?? 0) + many)
    }
    const giveAll = (which: 'canceled' | 'refunded', units: ReadonlyMap<string, number>) =>
      credit(() => {
        for (const line of lines) giveUnits(line, gone(line), gone(line) + (units.get(line.name) ?? 0))
        add(which, units)
        giveDeliveries()
      })
    if (deed.do === 'take') taken += BigInt(deed.minor)
    if (deed.do === 'amount') credit(() => giveAmount(BigInt(deed.minor)))
    if (deed.do === 'cancel') giveAll('canceled', deed.units)
    if (deed.do === 'refund') giveAll('refunded', deed.units)
    if (deed.do === 'ship') {
      add('sent', deed.units)
      parcels.push(deed.units)
    }
    if (deed.do === 'void') {
      const parcel = parcels[deed.parcel] as ReadonlyMap<string, number>
      for (const [name, many] of parcel) count.sent.set(name, (count.sent.get(name) ?? 0) - many)
      parcels[deed.parcel] = 'voided'
    }
    if (deed.do === 'return') add('returned', deed.units)
    if (deed.do === 'place' || deed.do === 'reopen' || deed.do === 'void') state = 'placed'
    if (deed.do === 'complete') state = 'completed'
    if (deed.do === 'agree') state = 'canceled'
    if (deed.do === 'ask' || deed.do === 'deny' || deed.do === 'agree') isAsked = deed.do === 'ask'
    if (deed.do === 'hold' || deed.do === 'release') isHeld = deed.do === 'hold'
  }

  const numbers = (which: keyof typeof count) => lines.map(line => of(which, line))
  return {
    may,
    act,
    now: () => ({
      state,
      counters: [numbers('canceled'), numbers('sent'), numbers('returned'), numbers('refunded')],
      credited: Number(credited()),
      given: things.map(({ name }) => Number(given.get(name))),
      tax: taxGiven().map(Number),
      taken: Number(taken),
      back: Number(back)
    })
  }
}
