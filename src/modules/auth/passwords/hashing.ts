import { lowerThreadPoolPriority } from './thread-priority.ts'

// argon2id as OWASP recommends (Password Storage Cheat Sheet, 2026): 19 MiB, two passes, one lane. Takes 12 ms (2026-11).
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// The hash of a discarded password. Comparing with it makes logins to unknown accounts cost the same as to existing ones.
const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$gauQIy4dB84gQG/J00Um0w$sMORbFe1pDweUy/V1V1Nn48d6nOKQDxU4W3dE0f4RDQ'

export type PasswordHashing = {
  hash(password: string): Promise<string>
  /** Returns false when there is no hash, after the same work. */
  verify(passwordHash: string | null, password: string): Promise<boolean>
}

/** Makes the same characters from different keyboards equal (NIST SP 800-63B, 3.1.1.2). */
const normalise = (password: string): string => password.normalize('NFKC')

let isLowered = false
/** Computes on the thread pool. The native library is loaded with the first password, not at the start. */
async function compute<T>(work: (library: typeof import('@node-rs/argon2')) => Promise<T>): Promise<T> {
  const computing = work(await import('@node-rs/argon2'))
  if (!isLowered) lowerThreadPoolPriority()
  isLowered = true
  return computing
}

export const argon2idPasswordHashing: PasswordHashing = {
  hash: password => compute(library => library.hash(normalise(password), PARAMETERS)),
  verify: async (passwordHash, password) => {
    const matches = await compute(library => library.verify(passwordHash ?? DUMMY_HASH, normalise(password)))
    return matches && passwordHash !== null
  }
}
