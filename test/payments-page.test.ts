import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

test("the browser code of docs/payments.md confirms a payment with the values from the shop's response", async () => {
  const page = await readFile(new URL('../docs/payments.md', import.meta.url), 'utf8')
  const [, code = ''] = /^```js\n(.*?)^```/ms.exec(page) ?? []
  const said: unknown[] = []
  /** What stands for the code of Stripe in the browser. */
  const Stripe = (publishableKey: string) => ({
    elements: (options: object) => ({
      options,
      create: (kind: string) => ({ mount: (place: string) => said.push({ publishableKey, kind, place }) })
    }),
    confirmPayment: async (options: object) => said.push(options)
  })
  const run = Object.getPrototypeOf(async () => {}).constructor
  await new run('Stripe', 'publishableKey', 'clientSecret', code)(Stripe, 'pk_1', 'secret_1')
  expect(said).toMatchObject([
    { publishableKey: 'pk_1', kind: 'payment', place: '#payment' },
    {
      elements: { options: { clientSecret: 'secret_1' } },
      confirmParams: { return_url: expect.stringMatching(/^https:/) }
    }
  ])
})
