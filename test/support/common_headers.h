// What every unit test includes, compiled once ahead of them: parsing GoogleTest is most of the time of a
// small test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>
