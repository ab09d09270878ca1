import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id } from '../../kernel/wire.ts'

/** `cart.merged`: a guest's cart became part of a customer's. */
export const cartMerged = defineEvent(
  'cart.merged',
  {
    description: "What somebody had chosen before logging in became part of their account's cart.",
    subject: 'the customer',
    outside: 'never'
  },
  {
    customer_id: Id,
    strategy: Type.Enum(['sum', 'max', 'guest', 'customer']),
    moved: Type.Integer({ description: "How many lines of the customer's cart are new or changed." })
  }
)
