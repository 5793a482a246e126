#include "wafer/base/units.h"

using wafer::Bytes;
using wafer::Cycles;
using wafer::Seconds;

Bytes sum = Bytes(1) + Bytes(2);
#ifdef BYTES_PLUS_CYCLES
auto wrong = Bytes(1) + Cycles(2);
#endif
#ifdef BYTES_PLUS_NUMBER
auto wrong = Bytes(1) + 2.0;
#endif
#ifdef BYTES_FROM_NUMBER
Bytes wrong = 2.0;
#endif
#ifdef BYTES_LESS_THAN_SECONDS
bool wrong = Bytes(1) < Seconds(2);
#endif
