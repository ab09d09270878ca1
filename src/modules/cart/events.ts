import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id } from '../../kernel/wire.ts'

/** `cart.merged`: a guest cart was merged into a customer's cart. */
export const cartMergedEvent = defineEvent(
  'cart.merged',
  {
    description: 'A guest cart, or items that a browser stored, was merged into the cart of a customer.',
    subject: 'the customer',
    webhook: 'none'
  },
  {
    customer_id: Id,
    strategy: Type.Enum(['sum', 'max', 'guest', 'customer']),
    moved: Type.Integer({ description: "Number of lines of the customer's cart that are new or changed." })
  }
)
