# tactus_unity: the Unity test framework (ThrowTheSwitch), from the first of: -DUNITY_ROOT=folder with
# unity.c, unity.h, unity_internals.h in it (or in its src/); an installed CMake package; build/unity.
set(UNITY_ROOT "" CACHE PATH "Folder that holds unity.c")
find_path(TACTUS_UNITY_DIR unity.c HINTS ${UNITY_ROOT} ${UNITY_ROOT}/src ${PROJECT_SOURCE_DIR}/build/unity
	NO_DEFAULT_PATH REQUIRED)
add_library(tactus_unity STATIC ${TACTUS_UNITY_DIR}/unity.c)
target_include_directories(tactus_unity SYSTEM PUBLIC ${TACTUS_UNITY_DIR})
target_compile_definitions(tactus_unity PUBLIC UNITY_INCLUDE_DOUBLE UNITY_SUPPORT_64)
