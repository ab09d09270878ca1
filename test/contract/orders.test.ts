import { describeContract } from './describe-contract.ts'

describeContract('cart', 'orders')
