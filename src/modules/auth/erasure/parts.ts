import type { Transaction } from '../../../platform/postgres/database.ts'

/** What a module keeps of people: how it forgets somebody, and what it tells them that it has. */
export type PersonalPart = {
  /** The name of the module, under which the export has it. */
  readonly name: string
  /**
   * Takes out of all that the module keeps who somebody was, within the transaction that deletes their account. Does nothing
   * where nothing is left: it is done once more a minute later, for what was being written meanwhile. Throws what
   * forbids it, such as an order that is open; then nothing is erased anywhere.
   */
  erase(tx: Transaction, userId: string): Promise<void>
  /** All that the module keeps of somebody, as JSON. */
  export(userId: string): Promise<unknown>
}

/** The parts, in the order in which modules were set up. */
export function createPersonalParts() {
  const parts: PersonalPart[] = []
  return {
    /** @throws when a module says so twice. */
    add(part: PersonalPart): void {
      if (parts.some(({ name }) => name === part.name))
        throw new Error(`${part.name} says twice how it forgets somebody`)
      parts.push(part)
    },

    async eraseAll(tx: Transaction, userId: string): Promise<void> {
      for (const part of parts) await part.erase(tx, userId)
    },

    /** One after the other, so that an export holds one connection. */
    async exportAll(userId: string): Promise<Record<string, unknown>> {
      const told: Record<string, unknown> = {}
      for (const part of parts) told[part.name] = await part.export(userId)
      return told
    }
  }
}
export type PersonalParts = ReturnType<typeof createPersonalParts>
