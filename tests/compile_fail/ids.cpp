#include "wafer/base/id.h"

using NodeId = wafer::Id<struct NodeTag>;
using EdgeId = wafer::Id<struct EdgeTag>;

bool same = NodeId(1) == NodeId(2);
#ifdef NODE_EQUALS_EDGE
bool wrong = NodeId(1) == EdgeId(1);
#endif
#ifdef NODE_FROM_EDGE
NodeId wrong = EdgeId(1);
#endif
